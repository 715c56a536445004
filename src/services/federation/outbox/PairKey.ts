/* What deliveries are about: those about the same reach an inbox in the order in which they happened. */

/** Two accounts, the first of which does something to the second or to a post. 64 bits; a coincidence only costs time. */
export const ofPair = (actor: bigint, object: bigint): bigint =>
  BigInt.asIntN(64, actor * 0x9e37_79b9_7f4a_7c15n + object)
