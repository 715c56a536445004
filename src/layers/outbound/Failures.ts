import { Refused, Unreachable } from "../../services/outbound/OutboundError.ts"
import { ConnectFailure } from "./Connector.ts"

export type Failure = Refused | Unreachable

/** Maps a transport error to a failure. */
export const failureOf = (url: string, error: Error): Failure => {
  if (error instanceof ConnectFailure) {
    return error.why === "address"
      ? new Refused({ url, rule: "address" })
      : new Unreachable({ url, reason: error.why })
  }
  return "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW"
    ? new Refused({ url, rule: "headers" })
    : new Unreachable({ url, reason: "closed" })
}

/** Returns a header's value; repeated values are joined by commas. */
export const joined = (value: string | ReadonlyArray<string>): string =>
  typeof value === "string" ? value : value.join(", ")
