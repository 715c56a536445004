import { Context, type Effect, type Scope } from "effect"
import type { BucketObject, StorageFailed } from "../media/Storage.ts"

/** A file of the Mastodon server. */
interface OldFile {
  /** Name that was asked for. */
  readonly name: string
  readonly bytes: number
  /** Its place in a bucket, if it is in one. */
  readonly object?: BucketObject
  /** Path on this machine. A file of a bucket is downloaded, and deleted when the scope closes. */
  readonly path: Effect.Effect<string, StorageFailed, Scope.Scope>
}

/** Media of the Mastodon server: its folder `public/system`, or its bucket. */
export class OldFiles extends Context.Service<OldFiles, {
  /**
   * Returns the first of these files, by path below the folder; undefined if none exists. Fails if the bucket does not
   * respond.
   */
  readonly find: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<OldFile | undefined, StorageFailed>
}>()("murmuration/services/mastodon/OldFiles") {}
