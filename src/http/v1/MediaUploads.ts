import { Context, Effect, Layer } from "effect"
import { MediaActors } from "../../actors/media/MediaActors.ts"
import { type AccountId, MediaId } from "../../services/database/Ids.ts"
import { imageBytesMax } from "../../services/instance/ContentLimits.ts"
import { MediaAttachments, type MediaText } from "../../services/media/MediaAttachments.ts"
import { MediaTools } from "../../services/media/MediaTools.ts"
import { type Upload, Uploads } from "../../services/media/Uploads.ts"
import { type Conflict, Unprocessable, validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { FileTicket } from "../wire/MediaRequests.ts"

const invalidType = () => validationFailed("File content type is invalid", "File is invalid")

/** Files that clients and the composer upload for posts (S-146 to S-148). */
export class MediaUploads extends Context.Service<MediaUploads, {
  /** Returns the uploaded file of a ticket; undefined if it is missing or empty. */
  readonly fileOf: (given: FileTicket | undefined) => Upload | undefined
  /**
   * Adds a file to the owner's attachments, and waits `secondsMax` for its processing. Refuses types that no tool
   * reads, pictures over the size limit, and thumbnails of pictures.
   */
  readonly create: (
    owner: AccountId,
    media: MediaText & { readonly file: FileTicket | undefined; readonly thumbnail: FileTicket | undefined },
    secondsMax: number
  ) => Effect.Effect<MediaId, Conflict | Unprocessable>
}>()("murmuration/http/v1/MediaUploads") {
  static readonly layer = Layer.effect(
    MediaUploads,
    Effect.gen(function*() {
      const attachments = yield* MediaAttachments
      const mediaActors = yield* MediaActors
      const tools = yield* MediaTools
      const uploads = yield* Uploads

      const fileOf: MediaUploads["Service"]["fileOf"] = (given) => {
        const found = given ? uploads.find(given.ticket) : undefined
        return found === undefined || found.bytes === 0 ? undefined : found
      }

      /** Returns true for a picture. */
      const accepted = Effect.fnUntraced(function*(file: Upload) {
        if (file.type === undefined) {
          return yield* new Unprocessable({ text: "File type of uploaded media could not be verified" })
        }
        if (!tools.types.has(file.type.mime)) return yield* invalidType()
        const isPicture = file.type.kind === "picture" || file.type.kind === "gif"
        if (isPicture && file.bytes > imageBytesMax) {
          return yield* validationFailed(`File file size must be less than ${imageBytesMax / 1_048_576} MB`)
        }
        return isPicture
      })

      const create: MediaUploads["Service"]["create"] = traced("MediaUploads.create")(
        function*(owner, { file: ticket, thumbnail: cover, ...text }, secondsMax) {
          const file = fileOf(ticket)
          if (file === undefined) return yield* validationFailed("File can't be blank")
          const thumbnail = fileOf(cover)
          const isPicture = yield* accepted(file)
          if (thumbnail !== undefined && (isPicture || !(yield* accepted(thumbnail)))) {
            return yield* validationFailed("Thumbnail content type is invalid")
          }
          const id = MediaId.make(yield* attachments.create(owner, { ...text, upload: file, thumbnail }))
          yield* mediaActors.wait(id, secondsMax)
          return id
        }
      )
      return MediaUploads.of({ fileOf, create })
    })
  )
}
