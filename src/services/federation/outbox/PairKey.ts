/* Subjects of deliveries: deliveries with the same subject reach an inbox in order. */

/**
 * Returns the subject of an account's actions on another account or a post. Has 64 bits; a collision only costs time.
 */
export const pairKey = (actor: bigint, object: bigint): bigint =>
  BigInt.asIntN(64, actor * 0x9e37_79b9_7f4a_7c15n + object)
