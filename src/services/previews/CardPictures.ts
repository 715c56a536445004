import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { sniff, uploadExtension } from "../media/FileTypes.ts"
import { type MediaRefused, type MediaToolFailed, MediaTools } from "../media/MediaTools.ts"
import { Storage, type StorageFailed } from "../media/Storage.ts"
import { type FileTooLarge, StoredFiles } from "../media/StoredFiles.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"

/** Maximum bytes of a page's image (limits-and-rates.md section 1), and timeout of its fetch, in seconds. */
const pictureBytesMax = 8_388_608
const pictureSecondsMax = 20

/** Declared types of images; the bytes decide the real type. */
const picture: DocumentType = {
  accept: "image/avif, image/webp, image/*",
  accepts: (type) => /^image\/|^(?:application|binary)\/octet-stream$|^$/.test(type)
}

/** A stored file without an owner yet, and its properties. */
interface CardPicture {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly blurhash: string
}

/** Images of pages: fetched once and stored as small previews, so that readers do not contact the pages' hosts. */
export class CardPictures extends Context.Service<CardPictures, {
  /** Returns undefined if the file is not a supported image. */
  readonly fetch: (url: string) => Effect.Effect<
    CardPicture | undefined,
    OutboundError | MediaRefused | MediaToolFailed | StorageFailed | FileTooLarge | SqlError
  >
}>()("murmuration/services/previews/CardPictures") {
  static readonly layerNoDeps = Layer.effect(
    CardPictures,
    Effect.gen(function*() {
      const files = yield* StoredFiles
      const outbound = yield* Outbound
      const storage = yield* Storage
      const tools = yield* MediaTools

      const preview = Effect.fnUntraced(function*(name: string, head: Uint8Array) {
        const type = yield* sniff(head)
        if (type === undefined || (type.kind !== "picture" && type.kind !== "gif")) return undefined
        const source = { path: yield* storage.local(name), type }
        const { blurhash, rendition, size } = yield* tools.preview(source, yield* storage.folder)
        const storedName = yield* files.keep(rendition.extension, rendition.path, rendition.bytes)
        return { name: storedName, width: size.width, height: size.height, blurhash }
      })

      const fetch = traced("CardPictures.fetch")(function*(url: string) {
        const { body } = yield* outbound.stream({
          url,
          type: picture,
          bytesMax: pictureBytesMax,
          secondsMax: pictureSecondsMax
        })
        const { head, name } = yield* files.receive(uploadExtension, body, pictureBytesMax)
        return yield* Effect.ensuring(preview(name, head), files.discard([name]))
      }, Effect.scoped)

      return CardPictures.of({ fetch })
    })
  )
  static readonly layer = CardPictures.layerNoDeps.pipe(Layer.provide(StoredFiles.layer))
}
