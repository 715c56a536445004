import { Cause, Console, Effect, Exit, Runtime, Schema } from "effect"

/** Error for the operator: why the server cannot start, or a command failed. */
export class OperatorError extends Schema.TaggedError<OperatorError>()("OperatorError", { message: Schema.String }) {
  // `printOperatorError` prints the message; a log line with a stack would add nothing.
  override readonly [Runtime.errorReported] = false
}

/** Prints the message of an operator error, without a stack. */
export const printOperatorError = <A, E, R>(program: Effect.Effect<A, E | OperatorError, R>) =>
  Effect.tapError(program, (error) => error instanceof OperatorError ? Console.error(error.message) : Effect.void)

/** Sets the exit code: 0 for success and for a requested stop, 1 for a failure. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
