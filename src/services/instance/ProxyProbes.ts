import { Schema } from "effect"
import { linkTokens } from "./LinkTokens.ts"

/** Request header that proves that the operator asks. */
export const probeHeader = "x-murmuration-probe"
/** Validity of a probe, in milliseconds. */
const probeMillisMax = 60_000

/** Request as the server saw it, for the operator who checks the reverse proxy. */
export const SeenRequest = Schema.Struct({
  /** Client address that limits and blocks use. */
  address: Schema.String,
  /** Address of the connection: the proxy's, or the client's without one. */
  peer: Schema.String,
  host: Schema.String,
  forwardedFor: Schema.NullOr(Schema.String),
  forwardedProto: Schema.NullOr(Schema.String)
})

const tokens = (signingKey: string) => linkTokens<"probe">(signingKey, "proxy probe")

/** Returns the header's value for a request at `now`, in milliseconds. */
export const makeProbe = (signingKey: string, now: number): string => tokens(signingKey).make("probe", BigInt(now))

/** Returns true for a probe of this server's operator that is less than a minute old. */
export const isProbe = (signingKey: string, text: string, now: number): boolean => {
  const madeAt = tokens(signingKey).read("probe", text)
  return madeAt !== undefined && Math.abs(now - Number(madeAt)) <= probeMillisMax
}
