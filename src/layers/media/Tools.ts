import { Effect, Layer, Semaphore } from "effect"
import { convertedPixelsMax } from "../../services/instance/ContentLimits.ts"
import { MediaRefused, MediaTools, type Source } from "../../services/media/MediaTools.ts"
import { traced } from "../../services/runtime/Traced.ts"
import * as Ffmpeg from "./Ffmpeg.ts"
import * as InstalledFfmpeg from "./InstalledFfmpeg.ts"
import * as Pictures from "./Pictures.ts"
import * as Playables from "./Playables.ts"

/** Maximum concurrent profile pictures and previews, for which a request waits; media jobs have their own limit. */
const waitedForAtOnceMax = 2

/** Media tools: sharp for pictures, and ffmpeg, if this machine has it, for audio and video. */
export const layer = Layer.effect(
  MediaTools,
  Effect.gen(function*() {
    const ffmpeg = yield* InstalledFfmpeg.find
    const playables = ffmpeg === undefined ? undefined : yield* Playables.make(ffmpeg)
    const turns = yield* Semaphore.make(waitedForAtOnceMax)
    const types = new Set(
      ffmpeg === undefined ? Pictures.pictureTypes : [...Pictures.pictureTypes, ...Ffmpeg.playableTypes]
    )

    const attachment = Effect.fnUntraced(function*(source: Source, folder: string, thumbnail: Source | undefined) {
      const { kind, mime } = source.type
      if (!types.has(mime)) {
        return yield* new MediaRefused({ text: "Validation failed: File content type is invalid, File is invalid" })
      }
      if (kind === "picture") return yield* Pictures.attachment(source, folder)
      if (playables === undefined) return yield* Pictures.attachment(source, folder)
      if (kind === "gif") {
        const { frames } = yield* Pictures.probe(source, convertedPixelsMax)
        if (frames === 1) return yield* Pictures.attachment(source, folder)
      }
      return yield* playables.attachment(source, folder, thumbnail)
    })

    return MediaTools.of({
      types,
      attachment: traced("MediaTools.attachment")(attachment),
      likeness: traced("MediaTools.likeness")((file) => turns.withPermits(1)(Pictures.likeness(file))),
      measure: traced("MediaTools.measure")((head) => turns.withPermits(1)(Pictures.measure(head))),
      preview: traced("MediaTools.preview")((source, folder) =>
        Effect.map(
          turns.withPermits(1)(Pictures.preview(source, folder)),
          ({ blurhash, colors, rendition, size }) => ({ rendition, size, blurhash, colors })
        )
      ),
      profilePicture: traced("MediaTools.profilePicture")((source, folder, kind, focus) =>
        turns.withPermits(1)(Pictures.profilePicture(source, folder, kind, focus))
      )
    })
  })
)
