import { Effect } from "effect"
import { validationFailed } from "../runtime/Errors.ts"

/** Maximum bytes of an imported file (limits of Mastodon). */
export const fileBytesMax = 20 * 1_048_576

/** Bytes at the start of a file without a byte order mark that tell UTF-16 by its zero bytes. */
const probedBytes = 1_024

/** Returns the encoding of a text file: by its byte order mark, or by the zero bytes of UTF-16. */
const encodingOf = (bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" => {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  const zeros = [0, 0]
  const probed = bytes.subarray(0, probedBytes)
  for (const [at, byte] of probed.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = probed.length / 8
  return odd > many && even === 0 ? "utf-16le" : even > many && odd === 0 ? "utf-16be" : "utf-8"
}

/** Decodes a text file in UTF-8 or UTF-16, without its byte order mark. Fails for other encodings and binary files. */
export const textOf = (bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes),
    catch: () => validationFailed("Data is not a text in UTF-8 or UTF-16")
  }).pipe(
    Effect.filterOrFail((text) => !text.includes("\0"), () => validationFailed("Data is not a text in UTF-8 or UTF-16"))
  )
