import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../database/Ids.ts"
import { emojiBytesMax } from "../instance/ContentLimits.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { EmojiRecords } from "./EmojiRecords.ts"
import { Emojis } from "./Emojis.ts"
import { sniff, uploadExtension } from "./FileTypes.ts"
import { Storage } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"

/** Maximum duration of fetching an image, in seconds. */
const pictureSecondsMax = 20

/** Declared types of images; the bytes decide the real type. */
const picture: DocumentType = {
  accept: "image/webp, image/*",
  accepts: (type) => /^image\/|^(?:application|binary)\/octet-stream$|^$/.test(type)
}

interface Copy {
  readonly shortcode?: string | undefined
  readonly category: string | null
}

/** Copies emoji of other servers to this server. */
export class EmojiCopies extends Context.Service<EmojiCopies, {
  /** Returns the id of the copy. */
  readonly copy: (
    by: AccountId,
    id: bigint,
    copy: Copy
  ) => Effect.Effect<bigint, Effect.Error<ReturnType<Emojis["Service"]["add"]>> | RecordNotFound | Unprocessable>
}>()("murmuration/services/media/EmojiCopies") {
  static readonly layer = Layer.effect(
    EmojiCopies,
    Effect.gen(function*() {
      const emojis = yield* Emojis
      const files = yield* StoredFiles
      const outbound = yield* Outbound
      const records = yield* EmojiRecords
      const storage = yield* Storage
      const unreached = validationFailed("Image could not be fetched")

      const copy = traced("EmojiCopies.copy")(function*(by: AccountId, id: bigint, { category, shortcode }: Copy) {
        const found = yield* records.find(id)
        if (found === undefined || found.domain === null) return yield* new RecordNotFound()
        const { head, name } = yield* Effect.gen(function*() {
          const { body } = yield* outbound.stream({
            url: found.url,
            type: picture,
            bytesMax: emojiBytesMax,
            secondsMax: pictureSecondsMax
          })
          return yield* files.receive(uploadExtension, body, emojiBytesMax)
        }).pipe(
          Effect.tapError((error) => Effect.logDebug("an emoji could not be fetched", error)),
          Effect.mapError(() => unreached)
        )
        return yield* Effect.gen(function*() {
          const type = yield* sniff(head)
          if (type === undefined) return yield* validationFailed("Image content type is invalid")
          const source = { path: yield* storage.local(name), type }
          return yield* emojis.add(
            by,
            { shortcode: shortcode ?? found.shortcode, category, listed: true },
            source,
            true
          )
        }).pipe(Effect.ensuring(files.discard([name])))
      }, Effect.scoped)
      return EmojiCopies.of({ copy })
    })
  )
}
