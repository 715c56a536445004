import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

/** Storage does not respond, or is full. */
export class StorageFailed extends Schema.TaggedError<StorageFailed>()("StorageFailed", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** Converts a backend's failure to a `StorageFailed`. */
export const storageFailed = ({ message }: { readonly message: string }) => new StorageFailed({ text: message })

/** Part of a file, in bytes. */
export interface Range {
  readonly offset: number
  readonly length: number
}

/** A stored file and its size in bytes. */
export interface StoredSize {
  readonly name: string
  readonly bytes: number
}

/** An object of an S3-compatible service. */
export interface BucketObject {
  /** URL of the service, without a slash at its end. */
  readonly endpoint: string
  readonly bucket: string
  readonly key: string
}

/**
 * Content of stored files. `StoredFiles` makes the names; a file appears atomically under its name, and never changes.
 * `layers/storage` supplies it.
 */
export class Storage extends Context.Service<Storage, {
  readonly write: <E>(name: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<void, E | StorageFailed>
  /** Stores a local file. One that nobody writes to (`isFixed`) may share its content with the stored file. */
  readonly writeFile: (name: string, path: string, isFixed?: boolean) => Effect.Effect<void, StorageFailed>
  /**
   * Copies an object within the service, without a download; returns false if that is not possible, as from another service or
   * without permission. Fails while the service is busy: a later copy may succeed. Only buckets have it.
   */
  readonly copyObject?: (name: string, from: BucketObject) => Effect.Effect<boolean, StorageFailed>
  /** Returns the bytes of a file; undefined if it does not exist. */
  readonly size: (name: string) => Effect.Effect<number | undefined, StorageFailed>
  readonly read: (name: string, range: Range) => Stream.Stream<Uint8Array, StorageFailed>
  /**
   * Returns the path of a local file with the same content, for tools. Read-only; it may be deleted when the scope
   * closes.
   */
  readonly local: (name: string) => Effect.Effect<string, StorageFailed, Scope.Scope>
  /** Empty local folder, deleted when the scope closes. */
  readonly folder: Effect.Effect<string, StorageFailed, Scope.Scope>
  /** Deletes a file; succeeds if it does not exist. */
  readonly remove: (name: string) => Effect.Effect<void, StorageFailed>
  /** All stored files, unordered; ignores files with other names. */
  readonly list: Stream.Stream<StoredSize, StorageFailed>
}>()("murmuration/services/media/Storage") {}

/** Returns true for names made by `StoredFiles`. */
export const isStoredName = (name: string): boolean => /^[0-9a-z]{2}\/[0-9a-z]{32}\.[0-9a-z]{3,6}$/.test(name)
