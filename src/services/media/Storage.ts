import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

/** Storage does not answer, or has no room. */
export class StorageFailed extends Schema.TaggedError<StorageFailed>()("StorageFailed", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** A failure of what storage stands on, as one of storage. */
export const storageFailed = ({ message }: { readonly message: string }) => new StorageFailed({ text: message })

/** Part of a file, in bytes. */
export interface Range {
  readonly offset: number
  readonly length: number
}

/** A file that is there, and how many bytes it has. */
export interface StoredSize {
  readonly name: string
  readonly bytes: number
}

/**
 * Where the bytes of files are. Names are made by `StoredFiles`; a file appears under its name whole or not at all, and
 * never changes. `layers/storage` supplies it.
 */
export class Storage extends Context.Service<Storage, {
  readonly write: <E>(name: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<void, E | StorageFailed>
  /** Stores a file of this machine. */
  readonly writeFile: (name: string, path: string) => Effect.Effect<void, StorageFailed>
  /** Bytes of a file; undefined where there is none. */
  readonly size: (name: string) => Effect.Effect<number | undefined, StorageFailed>
  readonly read: (name: string, range: Range) => Stream.Stream<Uint8Array, StorageFailed>
  /** The path of a file on this machine with the same bytes, for tools; it may go with the scope, and is never written to. */
  readonly local: (name: string) => Effect.Effect<string, StorageFailed, Scope.Scope>
  /** An empty folder on this machine that goes with the scope. */
  readonly folder: Effect.Effect<string, StorageFailed, Scope.Scope>
  /** Done as well where there is no such file. */
  readonly remove: (name: string) => Effect.Effect<void, StorageFailed>
  /** Every file that is there, in any order; not what lies beside under names of others. */
  readonly list: Stream.Stream<StoredSize, StorageFailed>
}>()("murmuration/services/media/Storage") {}

/** Names as `StoredFiles` makes them; anything else is no file of ours. */
export const isStoredName = (name: string): boolean => /^[0-9a-z]{2}\/[0-9a-z]{32}\.[0-9a-z]{3,6}$/.test(name)
