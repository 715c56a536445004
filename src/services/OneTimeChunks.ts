/*
 * Memory of large bodies. A buffer's bytes lie outside of the heap: V8 counts them, and collects the whole heap when there are
 * many. That took half of what an upload costs, and a fifth of what a page of statuses does. A buffer that is given back at
 * once is the next one's.
 */

const oneTime = new WeakSet<Uint8Array>()

/** Says that nobody reads the chunk after it was written. */
export const readOnce = (chunk: Uint8Array): Uint8Array => {
  oneTime.add(chunk)
  return chunk
}

/** Gives the memory of a written chunk back, where it was said to be read once, and is no part of anything larger. */
export const giveBack = (chunk: Uint8Array): void => {
  const { buffer, byteLength } = chunk
  if (oneTime.has(chunk) && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
