import { Redacted } from "effect"
import { Secret, TOTP } from "otpauth"

/** Chance in a secret, as RFC 4226 (section 4) advises. */
export const secretBytes = 20
/** How long one code is shown (seconds), and how many of them before and after the current one are taken, too. */
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

/** The secret as apps that make codes take it: base32. */
export const secretOf = (chance: Uint8Array): Redacted.Redacted =>
  Redacted.make(new Secret({ buffer: new Uint8Array(chance).buffer }).base32)

/** What apps that make codes read from a QR code. */
export const addressOf = (secret: Redacted.Redacted, server: string, username: string): string =>
  generator(secret, server, username).toString()

/** The step of time that the code stands for (RFC 6238); undefined for a code that is none of this moment. */
export const stepOf = (secret: Redacted.Redacted, code: string, millis: number): number | undefined => {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = generator(secret, "", "").validate({ token: code, timestamp: millis, window })
  return delta === null ? undefined : Math.floor(millis / 1_000 / stepSeconds) + delta
}
