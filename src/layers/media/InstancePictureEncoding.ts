import { Effect, Layer } from "effect"
import { emojiEdgePixelsMax, instanceThumbnailPixels } from "../../services/instance/ContentLimits.ts"
import { InstancePictures } from "../../services/media/InstancePictures.ts"
import type { Source } from "../../services/media/MediaTools.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { blurhashAndColors, extensionOf, probe, quality, write } from "./Pictures.ts"

/**
 * Processes the instance's pictures with sharp. Like all others they are re-encoded, which removes everything but the
 * visible image.
 */
export const layer = Layer.succeed(InstancePictures, {
  emoji: traced("InstancePictures.emoji")(function*(source, folder) {
    const { frames, height, width } = yield* probe(source)
    const scale = Math.min(1, emojiEdgePixelsMax / Math.max(width, height))
    const size = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))] as const
    const target = { size, fit: "fill", quality } as const
    const extension = extensionOf(source.type.mime)
    const animated = frames > 1
    const moving = yield* write(source, folder, { ...target, name: "emoji", extension, animated })
    const still = animated
      ? yield* write(source, folder, { ...target, name: "emoji-still", extension: "png", animated: false })
      : undefined
    return { animated: moving, still }
  }),
  icons: traced("InstancePictures.icons")(function*(source: Source, folder: string, edges: ReadonlyArray<number>) {
    const target = { extension: "png", fit: "cover", quality, animated: false } as const
    // An oversized picture is refused before it is decoded. Then the largest icon is made, and the others from it.
    yield* probe(source)
    const [largest = 1] = edges.toSorted((a, b) => b - a)
    const { path } = yield* write(source, folder, { ...target, name: "icon", size: [largest, largest] })
    return yield* Effect.forEach(edges, (edge) =>
      Effect.map(
        write({ ...source, path }, folder, { ...target, name: `icon-${edge}`, size: [edge, edge] }),
        (rendition) => ({ edge, rendition })
      ))
  }),
  thumbnail: traced("InstancePictures.thumbnail")(function*(source, folder) {
    const found = yield* probe(source)
    const { height, width } = instanceThumbnailPixels
    const extension = source.type.mime === "image/png" ? "png" : "jpg"
    const target = { extension, fit: "cover", quality, animated: false } as const
    const single = yield* write(source, folder, { ...target, name: "single", size: [width, height] })
    const large = found.width >= 2 * width && found.height >= 2 * height
    const double = large
      ? yield* write(source, folder, { ...target, name: "double", size: [2 * width, 2 * height] })
      : undefined
    return { single, double, blurhash: (yield* blurhashAndColors(single.path)).blurhash }
  })
})
