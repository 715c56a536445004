import { Redacted } from "effect"
import { shortText, shortUnitsMax } from "../text/BoundedText.ts"
import { composed } from "../text/Normalisation.ts"
import { passwordBytesMax } from "./Credentials.ts"

/** Bytes of a password that bcrypt uses; a character has one at least. */
const bcryptBytesMax = 72

/** bcrypt hashes, as Mastodon stores them. */
const bcryptHash = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
/** Costs of a bcrypt hash that are verified; 14 takes more than a second. Mastodon's is 10; bcrypt has none below 4. */
const bcryptCosts = { min: 4, max: 14 } as const

/** Returns true for a bcrypt hash of a verified cost. */
export const isBcryptHash = (stored: string | undefined): stored is string => {
  const cost = Number(bcryptHash.exec(stored ?? "")?.[1])
  return cost >= bcryptCosts.min && cost <= bcryptCosts.max
}

const utf8 = new TextEncoder()

/** Maximum UTF-16 units of a possible password: four per byte, as a composed character may come from several. */
const unitsMax = Math.min(4 * passwordBytesMax, shortUnitsMax)

/** Returns the UTF-8 bytes of a password in NFC. Longer text is cut, so that passwords in the queue stay small. */
export const passwordBytes = (password: Redacted.Redacted): Uint8Array =>
  utf8.encode(composed(shortText(Redacted.value(password).slice(0, unitsMax))))

/**
 * Returns the beginning of a password that bcrypt hashes: as it was typed, without normalisation. bcrypt uses the first
 * 72 of its UTF-8 bytes.
 */
export const bcryptText = (password: Redacted.Redacted): string => Redacted.value(password).slice(0, 2 * bcryptBytesMax)

/** Returns true for text that is longer than any password, without normalising it. */
export const isBeyondPasswords = (password: Redacted.Redacted): boolean => Redacted.value(password).length >= unitsMax

/** Returns true for passwords of more than `passwordBytesMax` bytes. */
export const isPasswordLong = (password: Redacted.Redacted): boolean =>
  isBeyondPasswords(password) || passwordBytes(password).length > passwordBytesMax
