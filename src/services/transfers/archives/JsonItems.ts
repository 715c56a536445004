import { Effect, Stream } from "effect"
import { type ArchiveRefused, refuse } from "./ArchiveRefusals.ts"

/** Maximum bytes of one item, of a name at the top of the document, and maximum depth of nesting. */
export const itemBytesMax = 1_048_576
const nameBytesMax = 256
const depthMax = 64

const oversized = refuse("oversized_post")
const unreadable = refuse("unreadable")

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d

/**
 * Finds the items of an array while the bytes of a JSON document arrive: of the array at the top of an object, or of the
 * document itself. Only the boundaries of the items are parsed, so that memory is bounded by the largest one.
 */
class ItemScanner {
  #depth = 0
  /** True after the document, which only spaces may follow. */
  #ended = false
  #inText = false
  #escaped = false
  /** Last text at depth 1: a name, until something other than a colon follows. */
  #name: Array<number> = []
  #state: "before" | "inside" | "after" = "before"
  #parts: Array<Uint8Array> = []
  #bytes = 0
  /** Name of the array; undefined if the document is the array. */
  readonly #array: string | undefined
  /** Depth within the array. */
  readonly #within: number

  constructor(array: string | undefined) {
    this.#array = array
    this.#within = array === undefined ? 1 : 2
  }

  /** Returns the texts of the items that end in this chunk. */
  push(chunk: Uint8Array): ReadonlyArray<string> {
    const items: Array<string> = []
    // Start of the current item within the chunk; it continues from the last chunk if it has parts.
    let start = this.#parts.length > 0 ? 0 : -1
    for (const [at, byte] of chunk.entries()) {
      const isInside = this.#state === "inside"
      if (isInside && !this.#inText && this.#depth === this.#within && (byte === comma || isClosing(byte))) {
        if (start >= 0) {
          this.#keep(chunk.subarray(start, at))
          items.push(this.#take())
          start = -1
        }
        if (byte !== comma) {
          this.#state = "after"
          this.#close()
        }
        continue
      }
      if (isInside && start < 0 && !this.#inText && !isSpace(byte)) start = at
      this.#step(byte)
    }
    if (start >= 0) this.#keep(chunk.subarray(start))
    return items
  }

  /** Returns true if the array was found and the document is complete. */
  get complete(): boolean {
    return this.#state === "after" && this.#ended
  }

  #step(byte: number): void {
    if (this.#ended && !isSpace(byte)) throw unreadable
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false
      else if (byte === backslash) this.#escaped = true
      else if (byte === quote) {
        this.#inText = false
        return
      }
      if (this.#state === "before" && this.#depth === 1 && this.#name.length < nameBytesMax) this.#name.push(byte)
      return
    }
    if (byte === quote) {
      this.#inText = true
      if (this.#depth === 1) this.#name = []
    } else if (isOpening(byte)) {
      this.#depth++
      if (this.#depth > depthMax) throw unreadable
      if (this.#depth === 1 && byte !== (this.#array === undefined ? 0x5b : 0x7b)) throw unreadable
      const begins = this.#state === "before" && this.#depth === this.#within && byte === 0x5b
      const isNamed = this.#array === undefined || String.fromCharCode(...this.#name) === this.#array
      if (begins && isNamed) this.#state = "inside"
    } else if (isClosing(byte)) {
      if (this.#depth === 0) throw unreadable
      this.#close()
    } else if (this.#depth === 0 && !isSpace(byte)) throw unreadable
    else if (byte === comma && this.#depth === 1) this.#name = []
  }

  #close(): void {
    this.#depth--
    this.#ended = this.#depth === 0
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > itemBytesMax) throw oversized
    this.#parts.push(Uint8Array.from(part))
  }

  #take(): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#parts))
    this.#parts = []
    this.#bytes = 0
    return text.trimEnd()
  }
}

/** Byte order mark of UTF-8, which some tools write. */
const withoutMark = (chunk: Uint8Array, place: number) =>
  place === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk

/**
 * Returns the items of the array `name` of a JSON object, or of a JSON array if there is no name, as JSON texts that the
 * caller parses. Fails for a document of another shape, a truncated one, and an item above `itemBytesMax`; items before
 * the fault are emitted.
 */
export const itemsOf = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  name: string | undefined
): Stream.Stream<string, E | ArchiveRefused> =>
  Stream.unwrap(Effect.sync(() => {
    const scanner = new ItemScanner(name)
    const scanned = Stream.zipWithIndex(bytes).pipe(
      Stream.mapEffect(([chunk, place]) =>
        Effect.try({
          try: () => scanner.push(withoutMark(chunk, place)),
          catch: (error) => error === oversized ? oversized : unreadable
        })
      ),
      Stream.flatMap((items) => Stream.fromIterable(items))
    )
    return Stream.concat(
      scanned,
      Stream.suspend(() => scanner.complete ? Stream.empty : Stream.fail(unreadable))
    )
  }))
