import { Context, Effect, Layer } from "effect"
import { Jobs } from "../../actors/media/Jobs.ts"
import {
  type Conflict,
  type RecordNotFound,
  Unavailable,
  type Unprocessable,
  validationFailed
} from "../../services/Errors.ts"
import type { AccountId, MediaId } from "../../services/Ids.ts"
import { MediaAttachments } from "../../services/media/MediaAttachments.ts"
import { MediaTools } from "../../services/media/MediaTools.ts"
import { Storage } from "../../services/media/Storage.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import type { Upload } from "../../services/media/Uploads.ts"
import { traced } from "../../services/Traced.ts"

/** Previews that owners give to videos and sounds after their upload (S-072, S-148). */
export class Thumbnails extends Context.Service<Thumbnails, {
  readonly replace: (owner: AccountId, id: MediaId, picture: Upload) => Effect.Effect<
    void,
    Conflict | RecordNotFound | Unavailable | Unprocessable
  >
}>()("murmuration/http/v1/Thumbnails") {
  static readonly layer = Layer.effect(
    Thumbnails,
    Effect.gen(function*() {
      const attachments = yield* MediaAttachments
      const files = yield* StoredFiles
      const jobs = yield* Jobs
      const storage = yield* Storage
      const tools = yield* MediaTools

      const replace = traced("Thumbnails.replace")(function*(owner: AccountId, id: MediaId, upload: Upload) {
        const { name, type } = upload
        const media = yield* attachments.find(owner, id)
        const invalid = validationFailed("Thumbnail content type is invalid")
        if (type?.kind !== "picture" || !tools.types.has(type.mime) || media.type === "image") return yield* invalid
        // What is worked on begins anew with the picture, whether or not it is nearly done.
        if (yield* attachments.illustrate(owner, id, upload)) return yield* jobs.wake(id)
        if (media.state === "failed") return
        yield* Effect.scoped(Effect.gen(function*() {
          const source = { path: yield* storage.local(name), type }
          const { blurhash, rendition, size } = yield* tools.preview(source, yield* storage.folder)
          const previewName = yield* files.keep(rendition.extension, rendition.path, rendition.bytes)
          yield* attachments.showPreview(owner, id, { previewName, size, blurhash })
        })).pipe(Effect.catchTags({
          MediaRefused: ({ text }) => validationFailed(`Thumbnail ${text}`),
          MediaToolFailed: () => invalid,
          StorageFailed: (error) =>
            Effect.andThen(Effect.logError("a preview could not be stored", error), Effect.fail(new Unavailable())),
          SqlError: Effect.die
        }))
      })
      return Thumbnails.of({ replace })
    })
  )
}
