import { Effect, FileSystem } from "effect"
import { videoFramesMax, videoFramesPerSecondMax, videoPixelsMax } from "../../services/instance/ContentLimits.ts"
import { typeNamed } from "../../services/media/FileTypes.ts"
import type { Playing } from "../../services/media/MediaRecord.ts"
import {
  MediaRefused,
  MediaToolFailed,
  type RenderedMedia,
  type Rendition,
  type Source
} from "../../services/media/MediaTools.ts"
import { type Ffmpeg, type Probed, splitArguments } from "./Ffmpeg.ts"
import * as Pictures from "./Pictures.ts"

/** Audio tags that are kept, as listeners see them; places and devices are removed (S-074, safety row 49). */
const tagsKept = new Set(["title", "artist", "album", "date", "track", "genre"])
const tagCharactersMax = 200

type Stream = Probed["streams"][number]

const isCover = ({ disposition }: Stream) => disposition?.["attached_pic"] === 1
const videoOf = ({ streams }: Probed) => streams.find((one) => one.codecType === "video" && !isCover(one))
const coverOf = ({ streams }: Probed) => streams.findIndex((one) => one.codecType === "video" && isCover(one))
const hasSound = ({ streams }: Probed) => streams.some(({ codecType }) => codecType === "audio")

const playing = ({ format }: Probed): Playing => ({
  duration: Number(format.duration ?? 0),
  bitrate: Math.round(Number(format.bitrate ?? 0))
})

const framesPerSecond = (text = "0/1"): number => {
  const [over = 0, under = 1] = text.split("/").map(Number)
  return under === 0 ? 0 : over / under
}

/** Returns the width in square pixels; a ratio of `0:1` means that the file states none. */
const shownWidth = ({ aspect = "", width = 0 }: Stream): number => {
  const [over = 0, under = 0] = aspect.split(":").map(Number)
  return over > 0 && under > 0 ? Math.round(width * over / under) : width
}

const refuse = (text: string) => Effect.fail(new MediaRefused({ text }))

/** Refuses a video that would be too expensive to convert or to watch. */
const checked = Effect.fnUntraced(function*(found: Probed, video: Stream) {
  const { frameRate, frames, height = 0 } = video
  const width = shownWidth(video)
  if (width === 0 || height === 0) return yield* refuse("Video has no video stream")
  if (width * height > videoPixelsMax) return yield* refuse(`${width}x${height} videos are not supported`)
  const rate = framesPerSecond(frameRate)
  if (rate > videoFramesPerSecondMax) return yield* refuse(`${Math.round(rate)}fps videos are not supported`)
  const count = Number(frames ?? rate * playing(found).duration)
  if (count > videoFramesMax) return yield* refuse(`Videos of ${Math.round(count)} frames are not supported`)
})

export const make = Effect.fnUntraced(function*(ffmpeg: Ffmpeg) {
  const fs = yield* FileSystem.FileSystem

  const written = (path: string, extension: Rendition["extension"]) =>
    fs.stat(path).pipe(
      Effect.mapBoth({
        onFailure: ({ message }) => new MediaToolFailed({ text: message }),
        onSuccess: ({ size }): Rendition => ({ path, extension, bytes: Number(size) })
      })
    )

  const sourceAs = (path: string, mime: string): Source => {
    const type = typeNamed(mime)
    if (type === undefined) throw new Error(`${mime} is no known type`)
    return { path, type }
  }

  /** Converts to a video that every browser plays; one without sound is an animation (`gifv`). */
  const video = Effect.fnUntraced(
    function*(source: Source, folder: string, found: Probed, thumbnail: Source | undefined) {
      const file = `${folder}/original.mp4`
      const sound = hasSound(found)
      yield* ffmpeg.convert(source, [
        ...splitArguments(`-map 0:v:0 ${sound ? "-map 0:a:0 -c:a aac -b:a 128k -ac 2" : "-an"}`),
        ...splitArguments("-c:v libx264 -preset veryfast -crf 24 -pix_fmt yuv420p"),
        // Square pixels, because players and our stills disagree on other shapes.
        ...splitArguments(
          `-vf scale='max(2,trunc(iw*sar/2)*2)':'max(2,trunc(ih/2)*2)',setsar=1 -frames:v ${videoFramesMax}`
        ),
        ...splitArguments("-movflags +faststart -f mp4")
      ], file)
      const converted = sourceAs(file, "video/mp4")
      const figures = yield* ffmpeg.probe(converted)
      const shown = videoOf(figures)
      const still = thumbnail ?? (yield* frame(converted, folder))
      const small = yield* Pictures.preview(still, folder)
      const result: RenderedMedia = {
        type: sound ? "video" : "gifv",
        original: yield* written(file, "mp4"),
        preview: small.rendition,
        meta: {
          original: {
            width: shown?.width ?? 0,
            height: shown?.height ?? 0,
            frameRate: shown?.frameRate ?? "0/1",
            ...playing(figures)
          },
          small: small.size,
          ...(thumbnail && { colors: small.colors })
        },
        blurhash: small.blurhash
      }
      return result
    }
  )

  /** Extracts the first frame of a converted video. */
  const frame = Effect.fnUntraced(function*(source: Source, folder: string) {
    const file = `${folder}/frame.jpg`
    yield* ffmpeg.convert(source, ["-map", "0:v:0", "-frames:v", "1", "-q:v", "2", "-f", "mjpeg"], file)
    return sourceAs(file, "image/jpeg")
  })

  const cover = Effect.fnUntraced(function*(source: Source, folder: string, index: number) {
    const file = `${folder}/cover.png`
    yield* ffmpeg.convert(source, ["-map", `0:${index}`, "-frames:v", "1", "-f", "apng"], file)
    return sourceAs(file, "image/png")
  })

  const audio = Effect.fnUntraced(
    function*(source: Source, folder: string, found: Probed, thumbnail: Source | undefined) {
      if (!hasSound(found)) return yield* refuse("File type of uploaded media could not be verified")
      const file = `${folder}/original.mp3`
      // Ogg has tags on the stream, other formats on the file; the case of their names differs.
      const tags = { ...found.streams.find(({ codecType }) => codecType === "audio")?.tags, ...found.format.tags }
      const playerTags = Object.entries(tags).filter(([name]) => tagsKept.has(name.toLowerCase()))
      yield* ffmpeg.convert(source, [
        ...splitArguments("-map 0:a:0 -vn -c:a libmp3lame -q:a 2 -ac 2"),
        ...playerTags.flatMap((
          [name, value]
        ) => ["-metadata", `${name.toLowerCase()}=${value.slice(0, tagCharactersMax)}`]),
        "-f",
        "mp3"
      ], file)
      const figures = yield* ffmpeg.probe(sourceAs(file, "audio/mpeg"))
      const index = coverOf(found)
      const art = thumbnail ?? (index < 0 ? undefined : yield* cover(source, folder, index))
      const small = art === undefined ? undefined : yield* Pictures.preview(art, folder)
      const result: RenderedMedia = {
        type: "audio",
        original: yield* written(file, "mp3"),
        preview: small?.rendition,
        meta: { original: playing(figures), ...(small && { small: small.size, colors: small.colors }) },
        blurhash: small?.blurhash ?? null
      }
      return result
    }
  )

  /** Makes the renditions of a video, an animation or an audio file. */
  const attachment = Effect.fnUntraced(function*(source: Source, folder: string, thumbnail: Source | undefined) {
    const found = yield* ffmpeg.probe(source)
    const moving = videoOf(found)
    if (moving === undefined) return yield* audio(source, folder, found, thumbnail)
    yield* checked(found, moving)
    return yield* video(source, folder, found, thumbnail)
  })

  return { attachment }
})
