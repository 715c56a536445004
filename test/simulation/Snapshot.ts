import type { PGlite } from "@electric-sql/pglite"

/**
 * A file or folder in PGlite's memory (Emscripten's MEMFS), identified by its number, or by its parent's number and its
 * name.
 */
interface Entry {
  readonly mode: number
  readonly stream_ops: Operations
  parent: Entry
  name: string
  mtime: number
  usedBytes: number
  contents: unknown
}

type Writing = (stream: { readonly node: Entry }, ...rest: ReadonlyArray<unknown>) => unknown

/** Write operations, one object shared by all files of a database. */
interface Operations {
  write: Writing
  msync: Writing
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
  /** Contents; the file uses this array until it is written. */
  readonly bytes: Uint8Array
  /** Array that an earlier run wrote instead, which the next run reuses. */
  spare: Uint8Array | undefined
}

/** Files shared by the databases of this process, by path: most are never written. */
const commonFiles = new Map<string, WeakRef<Uint8Array>>()

/** Time older than any file: a file with this time has not been written since. */
const untouched = 0

const pageBytes = 65_536
const nothing = Buffer.alloc(pageBytes)

/** Memory pages shared by the databases of this process, by position. */
const commonPages = new Map<number, WeakRef<Uint8Array>>()

/** Returns the array with the same bytes that another database has under the key, or a copy that others may share. */
const interned = <Key>(all: Map<Key, WeakRef<Uint8Array>>, key: Key, bytes: Uint8Array) => {
  const known = all.get(key)?.deref()
  if (known !== undefined && Buffer.compare(known, bytes) === 0) return known
  const own = bytes.slice()
  if (known === undefined) all.set(key, new WeakRef(own))
  return own
}

/**
 * A database between two statements, byte for byte: its memory, its files, and its open files. Restoring it undoes all
 * later changes and is cheaper than emptying tables. Postgres's caches, including plans, are restored too. Files are
 * copied on write.
 */
export class Snapshot {
  private readonly database: PGlite
  private readonly savedFiles = new Map<Entry, Kept>()
  private readonly folders = new Map<Entry, ReadonlyMap<string, Entry>>()
  private readonly guarded = new WeakSet<Operations>()
  private pages: ReadonlyArray<Uint8Array> = []
  private streams: ReadonlyArray<readonly [fd: number, stream: Stream, shared: Stream["shared"]]> = []

  constructor(database: PGlite) {
    this.database = database
    this.take()
  }

  /** Records the current state of the database. */
  take() {
    const { heap, files, pages } = this
    this.pages = Array.from({ length: usedOf(heap) / pageBytes }, (_, n) => {
      const page = heap.subarray(n * pageBytes, (n + 1) * pageBytes)
      const before = pages[n]
      if (before !== undefined && Buffer.compare(before, page) === 0) return before
      return interned(commonPages, n, page)
    })
    this.streams = files.streams.flatMap((stream, fd) => stream ? [[fd, stream, { ...stream.shared }] as const] : [])
    this.folders.clear()
    this.keep(files.lookupPath("/").node, "")
  }

  private get heap(): Uint8Array {
    return this.database.Module.HEAPU8
  }
  private get files(): Files {
    return this.database.Module.FS
  }

  private keep(folder: Entry, path: string) {
    const { files, savedFiles } = this
    const entries = entriesOf(folder)
    this.folders.set(folder, entries)
    folder.mtime = untouched
    for (const [name, entry] of entries) {
      if (files.isDir(entry.mode)) this.keep(entry, `${path}/${name}`)
      if (!files.isFile(entry.mode)) continue
      this.guard(entry.stream_ops)
      if (isSame(entry, savedFiles.get(entry))) continue
      const bytes = interned(commonFiles, `${path}/${name}`, bytesOf(entry))
      savedFiles.set(entry, { bytes, spare: undefined })
      entry.contents = bytes
      entry.mtime = untouched
    }
  }

  /** Copies files before they are written. */
  private guard(operations: Operations) {
    if (this.guarded.has(operations)) return
    this.guarded.add(operations)
    const { msync, write } = operations
    const own = (node: Entry) => {
      const file = this.savedFiles.get(node)
      if (file === undefined || node.contents !== file.bytes) return
      if (file.spare?.length !== file.bytes.length) file.spare = new Uint8Array(file.bytes.length)
      file.spare.set(file.bytes)
      node.contents = file.spare
      file.spare = undefined
    }
    operations.write = (stream, ...rest) => {
      own(stream.node)
      return write(stream, ...rest)
    }
    operations.msync = (stream, ...rest) => {
      own(stream.node)
      return msync(stream, ...rest)
    }
  }

  /** Restores the recorded state. */
  restore() {
    const { files, folders, heap, savedFiles, pages } = this
    // Comparing is cheaper than writing.
    for (const [n, page] of pages.entries()) {
      const at = n * pageBytes
      if (!Buffer.from(heap.buffer, at, pageBytes).equals(page)) heap.set(page, at)
    }
    heap.fill(0, pages.length * pageBytes, usedOf(heap))
    const changed = [...folders].filter(([folder]) => folder.mtime !== untouched)
    for (const [folder] of changed) this.forget(folder)
    for (const [folder, entries] of changed) {
      folder.contents = Object.fromEntries(entries)
      folder.mtime = untouched
      for (const [name, entry] of entries) {
        files.hashAddNode(Object.assign(entry, { name, parent: folder }))
      }
    }
    for (const [entry, file] of savedFiles) {
      if (isSame(entry, file)) continue
      if (entry.contents !== file.bytes && entry.contents instanceof Uint8Array) file.spare = entry.contents
      entry.contents = file.bytes
      entry.usedBytes = file.bytes.length
      entry.mtime = untouched
    }
    files.streams.fill(null)
    for (const [fd, stream, shared] of this.streams) {
      files.streams[fd] = stream
      Object.assign(stream.shared, shared)
    }
  }

  /** Drops a folder's entries from the name lookup. */
  private forget(folder: Entry) {
    for (const entry of entriesOf(folder).values()) {
      this.files.hashRemoveNode(entry)
      if (this.files.isDir(entry.mode) && !this.folders.has(entry)) this.forget(entry)
    }
  }
}

const entriesOf = ({ contents }: Entry): ReadonlyMap<string, Entry> => new Map(Object.entries(contents ?? {}))

/** Returns a file's bytes. Its array is signed or unsigned, depending on Postgres's first write. */
const bytesOf = ({ contents, usedBytes }: Entry) => {
  if (!ArrayBuffer.isView(contents)) throw new Error("a file without bytes")
  return new Uint8Array(contents.buffer, contents.byteOffset, usedBytes)
}

const isSame = ({ contents, mtime, usedBytes }: Entry, saved: Kept | undefined) =>
  mtime === untouched && contents === saved?.bytes && usedBytes === saved?.bytes.length

/** Returns the size of the memory up to the last byte ever written. */
const usedOf = (heap: Uint8Array) => {
  let end = heap.length
  while (nothing.equals(heap.subarray(end - pageBytes, end))) end -= pageBytes
  return end
}
