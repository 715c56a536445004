import { Redacted } from "effect"
import { Secret, TOTP } from "otpauth"

/** Random bytes of a secret, as RFC 4226 (section 4) recommends. */
export const secretBytes = 20
/** Period of a code in seconds, and the accepted periods before and after the current one. */
const stepSeconds = 30
const window = 1
const digits = 6

const generator = (secret: Redacted.Redacted, server: string, username: string) =>
  new TOTP({
    issuer: server,
    label: `${username}@${server}`,
    issuerInLabel: false,
    algorithm: "SHA1",
    digits,
    period: stepSeconds,
    secret: Secret.fromBase32(Redacted.value(secret))
  })

/** Returns the secret in base32, as authenticator apps take it. */
export const secretOf = (chance: Uint8Array): Redacted.Redacted =>
  Redacted.make(new Secret({ buffer: new Uint8Array(chance).buffer }).base32)

/** Returns the URI that authenticator apps read from a QR code. */
export const otpauthUri = (secret: Redacted.Redacted, server: string, username: string): string =>
  generator(secret, server, username).toString()

/** Returns the time step of a code (RFC 6238); undefined if the code is not valid now. */
export const stepOf = (secret: Redacted.Redacted, code: string, millis: number): number | undefined => {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = generator(secret, "", "").validate({ token: code, timestamp: millis, window })
  return delta === null ? undefined : Math.floor(millis / 1_000 / stepSeconds) + delta
}
