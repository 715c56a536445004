import type { PGlite } from "@electric-sql/pglite"

/** A file or folder in PGlite's memory (Emscripten's MEMFS), where each has a number, its parent's and its name find it. */
interface Entry {
  readonly mode: number
  parent: Entry
  name: string
  mtime: number
  usedBytes: number
  contents: unknown
}

interface Stream {
  readonly shared: { position: number; flags: number }
}

interface Files {
  readonly streams: Array<Stream | null | undefined>
  readonly lookupPath: (path: string) => { readonly node: Entry }
  readonly isDir: (mode: number) => boolean
  readonly isFile: (mode: number) => boolean
  readonly hashAddNode: (entry: Entry) => void
  readonly hashRemoveNode: (entry: Entry) => void
}

interface Kept {
  readonly bytes: Uint8Array
  /** The array that had these bytes then. */
  live: unknown
}

/** No file is that old: what has this time was not written since it was set. */
const untouched = 0

const pageBytes = 65_536
const nothing = Buffer.alloc(pageBytes)

/**
 * What a database is between two statements, byte for byte: its memory, its files, and which of them it has open. To come
 * back to it leaves nothing of what was done meanwhile, and is cheaper than to empty the tables; what Postgres had in its
 * caches, plans of statements among them, it has again.
 */
export class Snapshot {
  private readonly database: PGlite
  private readonly kept = new Map<Entry, Kept>()
  private readonly folders = new Map<Entry, ReadonlyMap<string, Entry>>()
  private memory = new Uint8Array()
  private streams: ReadonlyArray<readonly [fd: number, stream: Stream, shared: Stream["shared"]]> = []

  constructor(database: PGlite) {
    this.database = database
    this.take()
  }

  /** From now on this is what the database is now. */
  take() {
    const { heap, files } = this
    const used = usedOf(heap)
    if (this.memory.length !== used) this.memory = new Uint8Array(used)
    this.memory.set(heap.subarray(0, used))
    this.streams = files.streams.flatMap((stream, fd) => stream ? [[fd, stream, { ...stream.shared }] as const] : [])
    this.folders.clear()
    this.keep(files.lookupPath("/").node)
  }

  private get heap(): Uint8Array {
    return this.database.Module.HEAPU8
  }
  private get files(): Files {
    return this.database.Module.FS
  }

  private keep(folder: Entry) {
    const { files, kept } = this
    const entries = entriesOf(folder)
    this.folders.set(folder, entries)
    folder.mtime = untouched
    for (const entry of entries.values()) {
      if (files.isDir(entry.mode)) this.keep(entry)
      if (!files.isFile(entry.mode)) continue
      if (!isSame(entry, kept.get(entry))) kept.set(entry, { bytes: bytesOf(entry).slice(), live: entry.contents })
      entry.mtime = untouched
    }
  }

  /** Comes back to it. */
  restore() {
    const { files, folders, heap, kept, memory } = this
    // To compare costs less than to write.
    for (let at = 0; at < memory.length; at += pageBytes) {
      const page = memory.subarray(at, at + pageBytes)
      if (!Buffer.from(heap.buffer, at, pageBytes).equals(page)) heap.set(page, at)
    }
    heap.fill(0, memory.length, usedOf(heap))
    const changed = [...folders].filter(([folder]) => folder.mtime !== untouched)
    for (const [folder] of changed) this.forget(folder)
    for (const [folder, entries] of changed) {
      folder.contents = Object.fromEntries(entries)
      folder.mtime = untouched
      for (const [name, entry] of entries) {
        files.hashAddNode(Object.assign(entry, { name, parent: folder }))
      }
    }
    for (const [entry, file] of kept) {
      if (isSame(entry, file)) continue
      if (entry.contents === file.live) bytesOf(entry).fill(0, file.bytes.length).set(file.bytes)
      else file.live = entry.contents = file.bytes.slice()
      entry.usedBytes = file.bytes.length
      entry.mtime = untouched
    }
    files.streams.fill(null)
    for (const [fd, stream, shared] of this.streams) {
      files.streams[fd] = stream
      Object.assign(stream.shared, shared)
    }
  }

  /** Nothing in the folder is found by its name. */
  private forget(folder: Entry) {
    for (const entry of entriesOf(folder).values()) {
      this.files.hashRemoveNode(entry)
      if (this.files.isDir(entry.mode) && !this.folders.has(entry)) this.forget(entry)
    }
  }
}

const entriesOf = ({ contents }: Entry): ReadonlyMap<string, Entry> => new Map(Object.entries(contents ?? {}))

/** Signed or not: what Postgres writes first is kept as it came. */
const bytesOf = ({ contents, usedBytes }: Entry) => {
  if (!ArrayBuffer.isView(contents)) throw new Error("a file without bytes")
  return new Uint8Array(contents.buffer, contents.byteOffset, usedBytes)
}

const isSame = ({ contents, mtime, usedBytes }: Entry, kept: Kept | undefined) =>
  mtime === untouched && contents === kept?.live && usedBytes === kept?.bytes.length

/** Bytes of the memory up to where nothing was ever written. */
const usedOf = (heap: Uint8Array) => {
  let end = heap.length
  while (nothing.equals(heap.subarray(end - pageBytes, end))) end -= pageBytes
  return end
}
