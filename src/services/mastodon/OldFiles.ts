import { Context, type Effect, type Scope } from "effect"
import type { StorageFailed } from "../media/Storage.ts"

/** A file of the Mastodon server, at a path of this machine. */
interface OldFile {
  /** Name that was asked for. */
  readonly name: string
  readonly path: string
  readonly bytes: number
}

/** Media of the Mastodon server: its folder `public/system`, or its bucket. */
export class OldFiles extends Context.Service<OldFiles, {
  /**
   * Returns the first of these files, by path below the folder; undefined if none exists. A downloaded file is deleted
   * when the scope closes. Fails if the bucket does not respond.
   */
  readonly find: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<OldFile | undefined, StorageFailed, Scope.Scope>
}>()("murmuration/services/mastodon/OldFiles") {}
