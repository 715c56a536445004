import { Schema } from "effect"

/** Which of our own rules a request or its answer broke; to ask again would change nothing. */
const RefusalReason = Schema.Literals([
  "address",
  "body",
  "domain",
  "encoding",
  "headers",
  "host",
  "port",
  "redirect",
  "redirects",
  "scheme",
  "size",
  "type",
  "userinfo"
])
type RefusalReason = typeof RefusalReason.Type

/** We do not ask, or do not believe the answer. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { url: Schema.String, rule: RefusalReason }) {
  override get message() {
    return `${this.url} was refused by the rule about its ${this.rule}`
  }
}

/** No answer came, or not all of it; a later try may get one. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  url: Schema.String,
  reason: Schema.Literals(["busy", "closed", "connect", "name", "timeout", "tls"])
}) {
  override get message() {
    return `${this.url} cannot be reached: ${this.reason}`
  }
}

/** An answer other than 2xx to a GET; `retryAfterSeconds` as the host asks for, undefined where it does not. */
export class Answered extends Schema.TaggedError<Answered>()("Answered", {
  url: Schema.String,
  status: Schema.Int,
  retryAfterSeconds: Schema.UndefinedOr(Schema.Int)
}) {
  override get message() {
    return `${this.url} answered ${this.status}`
  }
}

/** Why a document could not be fetched. */
export const OutboundError = Schema.Union([Refused, Unreachable, Answered])
export type OutboundError = typeof OutboundError.Type
