import { Result, Schema } from "effect"

/** A request of somebody else as it arrived, as far as a signature can speak of it. */
export interface SignedRequest {
  /** In capitals. */
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  /** By names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Where it came from; absent where nobody knows. */
  readonly address?: string
}

/** The key that a signature names, and the bytes to check with it. */
export interface Claim {
  readonly keyId: string
  /** Undefined where the kind of the key decides. */
  readonly algorithm: "rsa-sha256" | "ed25519" | undefined
  readonly base: Uint8Array
  /** Other forms of the same request that servers sign; a signature of one of them holds as well. */
  readonly variants: ReadonlyArray<Uint8Array>
  readonly signature: Uint8Array
  /** When it was signed, as its signer says, in milliseconds since 1970. */
  readonly signedMillis: number
}

/** A signature that is not looked at any further; `malformed` is the sender's mistake in writing it. */
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

/** How long a signature holds that does not say, and how wrong clocks may be, in milliseconds. */
const lifetimeMillis = 5 * 60_000
export const lifetimeMillisMax = 12 * 3_600_000
export const skewMillisMax = 3_600_000

/** Whether `now` is inside the time that a signature holds; all in milliseconds since 1970. */
export const isInTime = (now: number, created: number, expires: number | undefined): boolean => {
  const until = Math.min(expires ?? created + lifetimeMillis, created + lifetimeMillisMax)
  return created <= now + skewMillisMax && until >= now - skewMillisMax
}
