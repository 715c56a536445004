import { Context, type Effect } from "effect"

/** Media folder of the Mastodon server, `public/system`. */
export class OldFiles extends Context.Service<OldFiles, {
  /** Returns the path and size of the first of these files, by path below the folder; undefined if there is none. */
  readonly find: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<{ readonly path: string; readonly bytes: number } | undefined>
}>()("murmuration/services/mastodon/OldFiles") {}
