import { Cause, Schema } from "effect"
import { OutboundError } from "./OutboundError.ts"

const isOutbound = Schema.is(OutboundError)

const lineOf = (error: unknown): string | undefined =>
  typeof error === "string" ? error : isOutbound(error) || Cause.isTimeoutError(error) ? error.message : undefined

/**
 * What a log says of why something came to nothing: of what others did not answer one line, of a fault of ours all that is
 * known of it.
 */
export const briefCause = (cause: Cause.Cause<unknown>): unknown => {
  const lines = cause.reasons.map((reason) => Cause.isFailReason(reason) ? lineOf(reason.error) : undefined)
  return lines.length > 0 && lines.every((line) => line !== undefined) ? lines.join("; ") : cause
}
