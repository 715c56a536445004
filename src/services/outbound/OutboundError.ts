import { Schema } from "effect"

/** Rule that a request or its response broke; a retry would not help. */
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

/** The request is not allowed, or its response not accepted. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { url: Schema.String, rule: RefusalReason }) {
  override get message() {
    return `${this.url} was refused by the rule about its ${this.rule}`
  }
}

/** Words for operators, by the reason why there is no complete response. */
const unreachable = {
  busy: "too many requests to its host are in progress",
  closed: "it closed the connection",
  connect: "it does not accept connections",
  name: "its name has no address",
  timeout: "it did not respond in time",
  tls: "its certificate or its TLS was not accepted"
}

/** No complete response; a retry may succeed. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  url: Schema.String,
  reason: Schema.Literals(["busy", "closed", "connect", "name", "timeout", "tls"])
}) {
  /** The reason in words, for operators. */
  get why(): string {
    return unreachable[this.reason]
  }
  override get message() {
    return `${this.url} cannot be reached: ${this.why}`
  }
}

/** Response to a GET with a non-2xx status; `retryAfterSeconds` is the host's, if any. */
export class ErrorResponse extends Schema.TaggedError<ErrorResponse>()("ErrorResponse", {
  url: Schema.String,
  status: Schema.Int,
  retryAfterSeconds: Schema.UndefinedOr(Schema.Int)
}) {
  override get message() {
    return `${this.url} returned ${this.status}`
  }
}

/** Reasons why a document could not be fetched. */
export const OutboundError = Schema.Union([Refused, Unreachable, ErrorResponse])
export type OutboundError = typeof OutboundError.Type
