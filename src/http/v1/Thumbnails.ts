import { Context, Effect, Layer } from "effect"
import { MediaActors } from "../../actors/media/MediaActors.ts"
import type { AccountId, MediaId } from "../../services/database/Ids.ts"
import { MediaAttachments, type Preview } from "../../services/media/MediaAttachments.ts"
import { MediaTools } from "../../services/media/MediaTools.ts"
import { Storage } from "../../services/media/Storage.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import type { Upload } from "../../services/media/Uploads.ts"
import {
  type Conflict,
  type RecordNotFound,
  Unavailable,
  type Unprocessable,
  validationFailed
} from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"

/** Custom previews of videos and audio, uploaded by their owners (S-072, S-148). */
export class Thumbnails extends Context.Service<Thumbnails, {
  /** Stores the converted picture; the row that shows it takes ownership of the file. */
  readonly make: (picture: Upload) => Effect.Effect<Preview, Unavailable | Unprocessable>
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
      const mediaActors = yield* MediaActors
      const storage = yield* Storage
      const tools = yield* MediaTools

      const invalid = validationFailed("Thumbnail content type is invalid")
      const make = traced("Thumbnails.make")(function*({ name, type }: Upload) {
        if (type?.kind !== "picture" || !tools.types.has(type.mime)) return yield* invalid
        return yield* Effect.scoped(Effect.gen(function*() {
          const source = { path: yield* storage.local(name), type }
          const { rendition, ...properties } = yield* tools.preview(source, yield* storage.folder)
          return { previewName: yield* files.keep(rendition.extension, rendition.path, rendition.bytes), ...properties }
        })).pipe(Effect.catchTags({
          MediaRefused: ({ text }) => validationFailed(`Thumbnail ${text}`),
          MediaToolFailed: () => invalid,
          StorageFailed: (error) =>
            Effect.andThen(Effect.logError("a preview could not be stored", error), Effect.fail(new Unavailable())),
          SqlError: Effect.die
        }))
      })

      const replace = traced("Thumbnails.replace")(function*(owner: AccountId, id: MediaId, upload: Upload) {
        const media = yield* attachments.find(owner, id)
        if (upload.type?.kind !== "picture" || !tools.types.has(upload.type.mime) || media.type === "image") {
          return yield* invalid
        }
        // A running job restarts with the new picture.
        if (yield* attachments.setPendingPreview(owner, id, upload)) return yield* mediaActors.wake(id)
        if (media.state === "failed") return
        yield* attachments.showPreview(owner, id, yield* make(upload))
      })
      return Thumbnails.of({ make, replace })
    })
  )
}
