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
import { hashEdgePixels, perceptualHash } from "../../services/media/Likeness.ts"
import type { Focus } from "../../services/media/MediaAttachments.ts"
import { sizeOf } from "../../services/media/MediaRecord.ts"
import {
  MediaRefused,
  MediaToolFailed,
  type ProfilePicture,
  type RenderedMedia,
  type Rendition,
  type Source
} from "../../services/media/MediaTools.ts"
import { colorsOf } from "./Colors.ts"

/** Maximum seconds of decoding. */
const decodeSecondsMax = 20
/** Quality of lossy formats, of 100. */
export const quality = 88
const previewQuality = 80
/**
 * Edge of the picture that a blurhash is computed from, in pixels, and the hash's components; more would not be
 * visible.
 */
const hashedEdgePixels = 64
const hashComponents = [4, 4] as const

// Each picture is read only once, and other threads have other work.
sharp.cache(false)
sharp.concurrency(1)
// Only the sniffed types are loaded; blocking all other loaders of libvips enforces that.
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

/** Picture types that are supported. */
export const pictureTypes = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"]

const open = (path: string, animated: boolean): Sharp =>
  sharp(path, {
    limitInputPixels: imagePixelsMax,
    sequentialRead: true,
    failOn: "error",
    animated
  }).timeout({ seconds: decodeSecondsMax })

/** Returns true for errors of libvips that are not the file's fault. */
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
 * Reads a picture's metadata, and refuses an oversized one before decoding: by its edges and pixels, its number of
 * frames, and the pixels of all frames. The size is that after rotation.
 */
export const probe = Effect.fnUntraced(function*({ path, type }: Source, allPixelsMax: number = imagePixelsMax) {
  // sharp's own limit would give no figures for the error; nothing is decoded here.
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

/** Returns the displayed size of a picture from its first bytes; undefined if it is unknown or too large. */
export const measure = (head: Uint8Array) =>
  Effect.tryPromise(() => sharp(head, { limitInputPixels: false, failOn: "none" }).metadata()).pipe(
    Effect.map(({ autoOrient: { height, width } }) =>
      width > 0 && height > 0 && width <= imageEdgePixelsMax && height <= imageEdgePixelsMax
        ? sizeOf(width, height)
        : undefined
    ),
    Effect.orElseSucceed(() => undefined)
  )

/** Returns the extension that a type is stored with; poorly supported types become JPEG. */
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

/** Scales a size down to a maximum number of pixels, keeping its aspect ratio. */
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
  /** Part of the upright picture that is kept; all of it by default. */
  readonly region?: Region | undefined
}

interface Region {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Width of a profile picture's shown part by its height. */
const proportions: Readonly<Record<ProfilePicture, number>> = { avatar: 1, header: 3 }

/** Returns the largest part of a proportion whose centre is as near to the focus as it can be. */
const partAround = (width: number, height: number, proportion: number, { x, y }: Focus): Region => {
  const [across, down] = width > height * proportion
    ? [Math.round(height * proportion), height]
    : [width, Math.max(1, Math.round(width / proportion))]
  const start = (length: number, part: number, middle: number) =>
    Math.round(Math.min(Math.max(length * middle - part / 2, 0), length - part))
  return {
    left: start(width, across, (x + 1) / 2),
    top: start(height, down, (1 - y) / 2),
    width: across,
    height: down
  }
}

/** Writes a rendition: rotated upright, in sRGB, without any metadata. */
export const write = ({ path }: Source, folder: string, target: Target) =>
  run(async (): Promise<Rendition & { readonly width: number; readonly height: number }> => {
    const { animated, extension, fit, quality, region, size: [width, height] } = target
    const file = `${folder}/${target.name}.${extension}`
    const upright = open(path, animated).autoOrient()
    const resized = (region === undefined ? upright : upright.extract(region)).resize({ width, height, fit })
    const written = await encoded(resized, extension, quality).toFile(file)
    return { path: file, extension, bytes: written.size, width, height: written.pageHeight ?? height }
  })

/** Returns the blurhash (https://blurha.sh) and the colours of a small picture. */
export const blurhashAndColors = (path: string) =>
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

/** Makes the still preview of a picture, with its blurhash and colours. */
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
  return { rendition: small, size: sizeOf(small.width, small.height), ...(yield* blurhashAndColors(small.path)) }
})

/** Makes the renditions of an attached picture. */
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
  // The smaller file is faster to read, and the preview is smaller still.
  const small = yield* preview(frames > 1 ? source : { ...source, path: original.path }, folder)
  const rendered: RenderedMedia = {
    type: "image",
    original,
    preview: small.rendition,
    meta: { original: sizeOf(original.width, original.height), small: small.size },
    blurhash: small.blurhash
  }
  return rendered
})

/**
 * Makes a profile picture, and a still copy of an animated one. A still picture is cropped around its focus; without
 * one, a header keeps all of it.
 */
export const profilePicture = Effect.fnUntraced(function*(
  source: Source,
  folder: string,
  kind: ProfilePicture,
  focus?: Focus
) {
  const { frames, height, width } = yield* probe(source)
  const extension = extensionOf(source.type.mime)
  const animated = frames > 1
  const region = animated || focus === undefined ? undefined : partAround(width, height, proportions[kind], focus)
  const size = kind === "avatar"
    ? [avatarEdgePixels, avatarEdgePixels] as const
    : within(region?.width ?? width, region?.height ?? height, headerPixelsMax)
  const target = { size, fit: kind === "avatar" ? "cover" : "fill", quality, region } as const
  const moving = yield* write(source, folder, { ...target, name: kind, extension, animated })
  const still = animated
    ? yield* write(source, folder, { ...target, name: `${kind}-still`, extension: "png", animated: false })
    : undefined
  const likeness = kind === "avatar" ? yield* run(() => hashOfPicture(open((still ?? moving).path, false))) : 0n
  return { animated: moving, still, likeness }
})

/** Returns the perceptual hash of a picture, upright and cropped to a square like an avatar. */
const hashOfPicture = async (picture: Sharp): Promise<bigint> => {
  const edge = hashEdgePixels
  const grey = await picture.autoOrient().resize({ width: edge, height: edge, fit: "cover" }).flatten({
    background: "#fff"
  })
    .greyscale().raw().toBuffer()
  return perceptualHash(grey)
}

/** Returns the perceptual hash of an untrusted file; 0 if it has none. */
export const likeness = (file: Uint8Array) =>
  Effect.tryPromise(async () => {
    const found = await sharp(file, { limitInputPixels: false }).metadata()
    const [width, height] = [found.autoOrient.width, found.pageHeight ?? found.autoOrient.height]
    if (width > imageEdgePixelsMax || height > imageEdgePixelsMax || width * height > imagePixelsMax) return 0n
    return await hashOfPicture(
      sharp(file, { limitInputPixels: imagePixelsMax, sequentialRead: true }).timeout({ seconds: decodeSecondsMax })
    )
  }).pipe(Effect.orElseSucceed(() => 0n))
