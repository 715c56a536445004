import { Cause, Schema } from "effect"
import { OutboundError } from "./OutboundError.ts"

const isOutbound = Schema.is(OutboundError)

const lineOf = (error: unknown): string | undefined =>
  typeof error === "string" ? error : isOutbound(error) || Cause.isTimeoutError(error) ? error.message : undefined

/**
 * Returns the loggable form of a cause: one line for failures of remote servers, the whole cause for faults of our own.
 */
export const briefCause = (cause: Cause.Cause<unknown>): unknown => {
  const lines = cause.reasons.map((reason) => Cause.isFailReason(reason) ? lineOf(reason.error) : undefined)
  return lines.length > 0 && lines.every((line) => line !== undefined) ? lines.join("; ") : cause
}
