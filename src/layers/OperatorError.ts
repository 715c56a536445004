import { Cause, Console, Effect, Exit, Runtime, Schema } from "effect"
import { terminalText } from "../services/text/TerminalText.ts"

/** Exit codes of the server and of the command line, with their meanings. */
export const exitCodes = {
  0: "Done, or stopped on request",
  1: "Refused or failed; standard error says why",
  2: "Wrong usage: an unknown command or flag, or a value of the wrong form",
  3: "The database or Redis cannot be reached; the same command may work later"
}
type ExitCode = keyof typeof exitCodes

/** Error for the operator: why the server cannot start, or a command failed. */
export class OperatorError extends Schema.TaggedError<OperatorError>()("OperatorError", {
  message: Schema.String,
  /** True if the database or Redis could not be reached. */
  unreachable: Schema.optionalKey(Schema.Boolean)
}) {
  // `printOperatorError` prints the message; a log line with a stack would add nothing.
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = (this.unreachable === true ? 3 : 1) satisfies ExitCode
}

/** Wrong usage of the command line. Its help has been printed. */
export class WrongUsage extends Schema.TaggedError<WrongUsage>()("WrongUsage", {}) {
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = 2 satisfies ExitCode
}

/** Prints the message of an operator error, without a stack. Messages may quote other servers. */
export const printOperatorError = <A, E, R>(program: Effect.Effect<A, E | OperatorError, R>) =>
  Effect.tapError(
    program,
    (error) => error instanceof OperatorError ? Console.error(terminalText(error.message)) : Effect.void
  )

/** Sets the exit code: 0 for success and for a requested stop, else that of the error (`exitCodes`). */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(
    Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause))
  )
