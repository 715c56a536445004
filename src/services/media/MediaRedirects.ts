import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { traced } from "../runtime/Traced.ts"

/** Mastodon's paths of files of its own members and of emoji. Each has a bounded length. */
const copiedPath =
  /^(?:media_attachments\/(?:files|thumbnails)|accounts\/avatars|accounts\/headers|custom_emojis\/images)(?:\/\d{3}){3,6}\/(?:original|small|static)\/[^/\0]{1,255}$/

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** Decodes an URL's path; undefined if it is malformed. */
const decoded = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Addresses of files that came from another server, by their paths there. */
export class MediaRedirects extends Context.Service<MediaRedirects, {
  /** Returns the present address of a file by its former path, as in a URL; undefined if it does not exist. */
  readonly find: (path: string) => Effect.Effect<string | undefined>
}>()("murmuration/services/media/MediaRedirects") {
  static readonly layer = Layer.effect(
    MediaRedirects,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      return MediaRedirects.of({
        find: traced("MediaRedirects.find")(function*(path: string) {
          const copied = decoded(path)
          if (copied === undefined || !copiedPath.test(copied)) return undefined
          const [found] = yield* nameRows(sql`SELECT r.name FROM media_redirects r
            JOIN stored_files f ON f.name = r.name AND f.doomed_at IS NULL WHERE r.path = ${copied}`)
          return found === undefined ? undefined : Urls.file(config, found.name)
        }, Effect.orDie)
      })
    })
  )
}
