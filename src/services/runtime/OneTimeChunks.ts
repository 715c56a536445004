/*
 * Memory of large bodies. A buffer's bytes are outside of the heap, but V8 counts them and collects the whole heap when
 * there are many. That took half of the cost of an upload, and a fifth of that of a page of statuses. A buffer that is
 * freed at once is reused.
 */

const oneTime = new WeakSet<Uint8Array>()

/** Marks a chunk as unused after it is written. */
export const markDisposable = (chunk: Uint8Array): Uint8Array => {
  oneTime.add(chunk)
  return chunk
}

/** Frees the memory of a written chunk if it was marked by `markDisposable` and is not part of a larger buffer. */
export const freeChunk = (chunk: Uint8Array): void => {
  const { buffer, byteLength } = chunk
  if (oneTime.has(chunk) && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
