import { Effect, Stream } from "effect"

/*
 * Ends of archives. Their decoders accept a file that was cut between two entries, whose later entries would be lost
 * without an error.
 */

/** Bytes of a zip's last record without its comment, and of the longest comment. */
const endBytes = 22
const commentBytesMax = 65_535
/** A tar ends with two empty blocks. */
const emptyBytes = 1_024

/** Keeps the last `max` bytes of a stream that passes through it. */
const makeTail = (max: number) => {
  let tail: Buffer = Buffer.alloc(0)
  return {
    bytes: () => tail,
    watch: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
      Stream.tap(bytes, (chunk) =>
        Effect.sync(() => {
          tail = chunk.length >= max
            ? Buffer.from(chunk.subarray(chunk.length - max))
            : Buffer.concat([tail, chunk]).subarray(-max)
        }))
  }
}

/** Watches a zip; `isComplete` returns true if its last record ends the file and counts this many entries. */
export const zipEnd = () => {
  const { bytes, watch } = makeTail(endBytes + commentBytesMax)
  const isComplete = (entries: number): boolean => {
    const tail = bytes()
    for (let at = tail.length - endBytes; at >= 0; at--) {
      if (tail.readUInt32LE(at) !== 0x06054b50 || at + endBytes + tail.readUInt16LE(at + 20) !== tail.length) continue
      const counted = tail.readUInt16LE(at + 10)
      // The count of a larger archive is in another record.
      return counted === 0xffff || counted === entries % 0x10000
    }
    return false
  }
  return { isComplete, watch }
}

/** Watches a tar; `isComplete` returns true if it has its end. */
export const tarEnd = () => {
  const { bytes, watch } = makeTail(emptyBytes)
  return { isComplete: () => bytes().length === emptyBytes && bytes().every((byte) => byte === 0), watch }
}
