import { Cause, Console, Effect, Exit, Runtime, Schema } from "effect"

/** Why the server cannot start or a command cannot be done, in words for the operator. */
export class OperatorError extends Schema.TaggedError<OperatorError>()("OperatorError", { message: Schema.String }) {
  // The words are printed by `inWords`; a log line with a stack would say nothing more.
  override readonly [Runtime.errorReported] = false
}

/** Prints the words of a failure, alone. */
export const inWords = <A, E, R>(program: Effect.Effect<A, E | OperatorError, R>) =>
  Effect.tapError(program, (error) => error instanceof OperatorError ? Console.error(error.message) : Effect.void)

/** Exit codes: 0 for success and for a stop that was asked for, 1 for a failure. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
