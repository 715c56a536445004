import { encode } from "blurhash"
import { Effect } from "effect"
import sharp, { type Sharp } from "sharp"
import {
  animationFramesMax,
  animationPixelsMax,
  avatarEdgePixels,
  headerPixelsMax,
  imageEdgePixelsMax,
  imagePixelsMax,
  previewPixelsMax,
  storedImagePixelsMax
} from "../../services/instance/ContentLimits.ts"
import type { ServedExtension } from "../../services/media/FileTypes.ts"
import { likenessEdgePixels, likenessHash } from "../../services/media/Likeness.ts"
import { sizeOf } from "../../services/media/MediaRecord.ts"
import {
  type Made,
  MediaRefused,
  MediaToolFailed,
  type ProfilePicture,
  type Rendition,
  type Source
} from "../../services/media/MediaTools.ts"
import { colorsOf } from "./Colors.ts"

/** Seconds after which a decoder is stopped. */
const decodeSecondsMax = 20
/** Quality of what loses some, of 100. */
export const quality = 88
const previewQuality = 80
/** Edge of what a blurhash is made of, in pixels, and its components; more would not be seen. */
const hashedEdgePixels = 64
const hashComponents = [4, 4] as const

// Each picture is read once, and other threads have other things to do.
sharp.cache(false)
sharp.concurrency(1)
// What libvips can read beside the types that are sniffed is never asked for; that it cannot be is for sure.
sharp.block({ operation: ["VipsForeignLoad"] })
sharp.unblock({
  operation: [
    "VipsForeignLoadJpeg",
    "VipsForeignLoadPng",
    "VipsForeignLoadWebp",
    "VipsForeignLoadNsgif",
    "VipsForeignLoadHeif"
  ]
})

/** The types that are read here. */
export const pictureTypes = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"]

const open = (path: string, animated: boolean): Sharp =>
  sharp(path, {
    limitInputPixels: imagePixelsMax,
    sequentialRead: true,
    failOn: "error",
    animated
  }).timeout({ seconds: decodeSecondsMax })

/** What libvips says that is no fault of the file's. */
const toolFailed = (text: string) => /timeout|out of memory|unable to open for write|no space/i.test(text)

const unreadable = "File type of uploaded media could not be verified"

const run = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) => {
      const text = error instanceof Error ? error.message : String(error)
      return toolFailed(text) ? new MediaToolFailed({ text }) : new MediaRefused({ text: unreadable })
    }
  })

/**
 * Reads what a picture says of itself, and refuses what is too large before anything of it is decoded: by its edges and
 * pixels, its frames, and the pixels of all of them. Edges are those of the picture as it is seen: after it was turned.
 */
export const probe = Effect.fnUntraced(function*({ path, type }: Source, allPixelsMax: number = imagePixelsMax) {
  // Its own limit would give no figures to refuse with; nothing is decoded here.
  const found = yield* run(() => sharp(path, { limitInputPixels: false, animated: true }).metadata())
  const frames = found.pages ?? 1
  const [width, height] = [found.autoOrient.width, found.pageHeight ?? found.autoOrient.height]
  const gif = type.kind === "gif" || frames > 1
  const tooLarge = width > imageEdgePixelsMax || height > imageEdgePixelsMax || width * height > imagePixelsMax
  if (tooLarge || (gif && width * height > animationPixelsMax)) {
    return yield* new MediaRefused({ text: `${width}x${height} ${gif ? "GIF files" : "images"} are not supported` })
  }
  if (frames > animationFramesMax || frames * width * height > allPixelsMax) {
    return yield* new MediaRefused({ text: `Animations of ${frames} frames are not supported` })
  }
  return { width, height, frames, hasAlpha: found.hasAlpha }
})

/** How large the picture is that begins with these bytes, as it is seen; undefined where that cannot be told or is too large. */
export const measure = (head: Uint8Array) =>
  Effect.tryPromise(() => sharp(head, { limitInputPixels: false, failOn: "none" }).metadata()).pipe(
    Effect.map(({ autoOrient: { height, width } }) =>
      width > 0 && height > 0 && width <= imageEdgePixelsMax && height <= imageEdgePixelsMax
        ? sizeOf(width, height)
        : undefined
    ),
    Effect.orElseSucceed(() => undefined)
  )

/** What a type is stored as; what few programs show becomes JPEG. */
export const extensionOf = (mime: string): ServedExtension =>
  mime === "image/png" ? "png" : mime === "image/webp" ? "webp" : mime === "image/gif" ? "gif" : "jpg"

const encoded = (picture: Sharp, extension: ServedExtension, quality: number): Sharp => {
  switch (extension) {
    case "png":
      return picture.png({ compressionLevel: 7 })
    case "webp":
      return picture.webp({ quality, effort: 3 })
    case "gif":
      return picture.gif()
    default:
      return picture.flatten({ background: "#fff" }).jpeg({ quality })
  }
}

/** Width and height of the same shape with that many pixels at most. */
const within = (width: number, height: number, pixelsMax: number): readonly [width: number, height: number] => {
  const scale = Math.min(1, Math.sqrt(pixelsMax / (width * height)))
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))]
}

interface Target {
  readonly name: string
  readonly extension: ServedExtension
  readonly size: readonly [width: number, height: number]
  readonly fit: "fill" | "cover"
  readonly quality: number
  readonly animated: boolean
}

/** Writes one rendition: turned upright, in sRGB, without anything else of the file it is made of. */
export const write = ({ path }: Source, folder: string, target: Target) =>
  run(async (): Promise<Rendition & { readonly width: number; readonly height: number }> => {
    const { animated, extension, fit, quality, size: [width, height] } = target
    const file = `${folder}/${target.name}.${extension}`
    const resized = open(path, animated).autoOrient().resize({ width, height, fit })
    const written = await encoded(resized, extension, quality).toFile(file)
    return { path: file, extension, bytes: written.size, width, height: written.pageHeight ?? height }
  })

/** The blurhash of a small picture (https://blurha.sh), and its colours. */
export const looksOf = (path: string) =>
  run(async () => {
    const { data, info } = await open(path, false)
      .resize({ width: hashedEdgePixels, height: hashedEdgePixels, fit: "inside" })
      .ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const pixels = new Uint8ClampedArray(data)
    return {
      blurhash: encode(pixels, info.width, info.height, ...hashComponents),
      colors: colorsOf(pixels, info.width)
    }
  })

/** The still preview of a picture, its blurhash and its colours. */
export const preview = Effect.fnUntraced(function*(source: Source, folder: string) {
  const { height, width } = yield* probe(source)
  const extension = extensionOf(source.type.mime)
  const small = yield* write(source, folder, {
    name: "small",
    extension: extension === "gif" ? "png" : extension,
    size: within(width, height, previewPixelsMax),
    fit: "fill",
    quality: previewQuality,
    animated: false
  })
  return { rendition: small, size: sizeOf(small.width, small.height), ...(yield* looksOf(small.path)) }
})

/** The renditions of a picture to attach. */
export const attachment = Effect.fnUntraced(function*(source: Source, folder: string) {
  const { frames, height, width } = yield* probe(source)
  const original = yield* write(source, folder, {
    name: "original",
    extension: extensionOf(source.type.mime),
    size: within(width, height, storedImagePixelsMax),
    fit: "fill",
    quality,
    animated: frames > 1
  })
  // The smaller file is read in less time, and nobody sees it in something that is smaller still.
  const small = yield* preview(frames > 1 ? source : { ...source, path: original.path }, folder)
  const made: Made = {
    type: "image",
    original,
    preview: small.rendition,
    meta: { original: sizeOf(original.width, original.height), small: small.size },
    blurhash: small.blurhash
  }
  return made
})

/** The picture of a profile; where it moves, a still one beside it. */
export const profilePicture = Effect.fnUntraced(function*(source: Source, folder: string, kind: ProfilePicture) {
  const { frames, height, width } = yield* probe(source)
  const size = kind === "avatar"
    ? [avatarEdgePixels, avatarEdgePixels] as const
    : within(width, height, headerPixelsMax)
  const extension = extensionOf(source.type.mime)
  const target = { size, fit: kind === "avatar" ? "cover" : "fill", quality } as const
  const animated = frames > 1
  const moving = yield* write(source, folder, { ...target, name: kind, extension, animated })
  const still = animated
    ? yield* write(source, folder, { ...target, name: `${kind}-still`, extension: "png", animated: false })
    : undefined
  const likeness = kind === "avatar" ? yield* run(() => looked(open((still ?? moving).path, false))) : 0n
  return { moving, still, likeness }
})

/** The hash of what it looks like, upright and cut to a square as avatars are. */
const looked = async (picture: Sharp): Promise<bigint> => {
  const edge = likenessEdgePixels
  const grey = await picture.autoOrient().resize({ width: edge, height: edge, fit: "cover" }).flatten({
    background: "#fff"
  })
    .greyscale().raw().toBuffer()
  return likenessHash(grey)
}

/** The same of a file of others, which may be anything. */
export const likeness = (file: Uint8Array) =>
  Effect.tryPromise(async () => {
    const found = await sharp(file, { limitInputPixels: false }).metadata()
    const [width, height] = [found.autoOrient.width, found.pageHeight ?? found.autoOrient.height]
    if (width > imageEdgePixelsMax || height > imageEdgePixelsMax || width * height > imagePixelsMax) return 0n
    return await looked(
      sharp(file, { limitInputPixels: imagePixelsMax, sequentialRead: true }).timeout({ seconds: decodeSecondsMax })
    )
  }).pipe(Effect.orElseSucceed(() => 0n))
