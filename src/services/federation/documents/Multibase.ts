const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
/** Maximum characters of a text to decode; an Ed25519 key has 48, a signature 89. */
const charactersMax = 128

/** Decodes a multibase text in base58 (`z`, Controlled Identifiers section 2.4); undefined for any other text. */
export const multibaseBytes = (text: unknown): Uint8Array | undefined => {
  if (typeof text !== "string" || !text.startsWith("z") || text.length > charactersMax) return undefined
  const digits = text.slice(1)
  let value = 0n
  for (const character of digits) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  const hex = value === 0n ? "" : value.toString(16)
  const zeros = digits.length - digits.replace(/^1+/, "").length
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex")])
}
