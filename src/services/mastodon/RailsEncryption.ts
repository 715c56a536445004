import { createDecipheriv, pbkdf2Sync } from "node:crypto"
import { inflateSync } from "node:zlib"

/* Texts that Rails' Active Record Encryption sealed: keypairs and the secrets of two-factor sign-in. */

/** Variables of Mastodon's environment from which the key is derived. */
interface RailsSecrets {
  readonly primaryKey: string
  readonly salt: string
}

const rounds = 65_536
const keyBytes = 32
const tagBytes = 16
/** Maximum bytes of a text after inflation; a key of 16,384 bits has 13,000. */
const inflatedBytesMax = 65_536

/** Reads a sealed message: base64 of the text, nonce and tag; `c` is set if the text is deflated. */
const partsOf = (message: string) => {
  const read: unknown = JSON.parse(message)
  if (typeof read !== "object" || read === null || !("p" in read) || !("h" in read)) return undefined
  const { h, p } = read
  if (typeof p !== "string" || typeof h !== "object" || h === null || !("iv" in h) || !("at" in h)) return undefined
  return typeof h.iv === "string" && typeof h.at === "string"
    ? {
      sealed: Buffer.from(p, "base64"),
      nonce: Buffer.from(h.iv, "base64"),
      tag: Buffer.from(h.at, "base64"),
      deflated: "c" in h && h.c === true
    }
    : undefined
}

/**
 * Returns a function that decrypts AES-256-GCM messages under the key of `secrets`, derived by PBKDF2 with SHA-256, or
 * with SHA-1 as before Rails 7.1. The function returns undefined for a message under another key, or malformed.
 */
export const decrypter = ({ primaryKey, salt }: RailsSecrets): (message: string) => string | undefined => {
  const keys = ["sha256", "sha1"].map((digest) => pbkdf2Sync(primaryKey, salt, rounds, keyBytes, digest))
  return (message) => {
    for (const key of keys) {
      try {
        const parts = partsOf(message)
        if (parts === undefined) return undefined
        const decipher = createDecipheriv("aes-256-gcm", key, parts.nonce, { authTagLength: tagBytes })
        decipher.setAuthTag(parts.tag)
        const plain = Buffer.concat([decipher.update(parts.sealed), decipher.final()])
        return (parts.deflated ? inflateSync(plain, { maxOutputLength: inflatedBytesMax }) : plain).toString("utf8")
      } catch {
        // Another key, or no message at all: the next key decides.
      }
    }
    return undefined
  }
}

/** Returns a secret of two-factor sign-in, which Mastodon stores sealed or in clear; undefined if it cannot be read. */
export const otpSecret = (
  stored: string,
  decrypt: (message: string) => string | undefined
): string | undefined => {
  const isSecret = (text: string) => /^[A-Z2-7]{16,128}$/.test(text)
  const secret = isSecret(stored) ? stored : decrypt(stored)
  return secret !== undefined && isSecret(secret) ? secret : undefined
}
