import { Result, Schema } from "effect"

/** An incoming request: everything that a signature can cover. */
export interface SignedRequest {
  /** In upper case. */
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  /** Names are in lower case; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Sender's address; absent if unknown. */
  readonly address?: string
}

/** The claimed key, and the bytes to verify. */
export interface Claim {
  readonly keyId: string
  /** Undefined if the kind of the key decides. */
  readonly algorithm: "rsa-sha256" | "ed25519" | undefined
  readonly base: Uint8Array
  /** Other forms of the same request that servers sign; a signature of any one is valid. */
  readonly variants: ReadonlyArray<Uint8Array>
  readonly signature: Uint8Array
  /** Time of signing, as the signer states it, in milliseconds since 1970. */
  readonly signedMillis: number
}

/** The signature is refused; `malformed` means a syntax error. */
export class Unverified extends Schema.TaggedError<Unverified>()("Unverified", {
  text: Schema.String,
  malformed: Schema.Boolean
}) {
  override get message() {
    return this.text
  }
}

export const unverified = (text: string) => Result.fail(new Unverified({ text, malformed: false }))
export const malformed = (text: string) => Result.fail(new Unverified({ text, malformed: true }))

/** Lifetime of a signature without expiry, maximum lifetime, and clock tolerance, in milliseconds. */
const lifetimeMillis = 5 * 60_000
export const lifetimeMillisMax = 12 * 3_600_000
export const skewMillisMax = 3_600_000

/** Returns true if `now` is within the signature's validity; all in milliseconds since 1970. */
export const isInTime = (now: number, created: number, expires: number | undefined): boolean => {
  const until = Math.min(expires ?? created + lifetimeMillis, created + lifetimeMillisMax)
  return created <= now + skewMillisMax && until >= now - skewMillisMax
}
