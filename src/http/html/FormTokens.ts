import { Result } from "effect"
import { Base64Url } from "effect/encoding"

/*
 * Form tokens in pages. A token is XORed with a random mask of its length, which precedes it, so that its characters
 * differ in each response: the length of compressed pages reveals nothing about it (BREACH).
 */

/** Name of the hidden field that proves that one of our pages sent a form. */
export const tokenField = "authenticity_token"

/** Bytes of a token, and of its mask. */
export const tokenBytes = 32

const xor = (bytes: Uint8Array, mask: Uint8Array): Uint8Array => bytes.map((byte, at) => byte ^ (mask[at] ?? 0))

/** Returns the token as a page contains it, in base64url; `mask` is random. */
export const mask = (token: Uint8Array, mask: Uint8Array): string =>
  Base64Url.encode(Buffer.concat([mask, xor(token, mask)]))

/** Returns the token of a masked one; undefined if the text is malformed. */
export const unmask = (text: string): Uint8Array | undefined => {
  if (text.length > 4 * tokenBytes) return undefined
  const bytes = Result.getOrUndefined(Base64Url.decode(text))
  return bytes?.length === 2 * tokenBytes
    ? xor(bytes.subarray(tokenBytes), bytes.subarray(0, tokenBytes))
    : undefined
}
