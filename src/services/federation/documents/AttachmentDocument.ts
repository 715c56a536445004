import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import { servedTypes } from "../../media/FileTypes.ts"
import type { MediaRecord } from "../../media/MediaRecord.ts"
import type { Document } from "./Vocabulary.ts"

type Config = Pick<ServerConfig["Service"], "mediaUrl">

/** Returns the media type under which a stored file is served. */
const typeOf = (name: string): string => servedTypes[name.split(".").at(-1) ?? ""] ?? "application/octet-stream"

/** Returns a stored picture by its file name. */
export const picture = (config: Config, name: string): Document => ({
  type: "Image",
  mediaType: typeOf(name),
  url: Urls.file(config, name)
})

/** Returns an attachment of a note (federation.md section 9); undefined if there is no file yet. */
export const attachmentDocument = (config: Config, media: MediaRecord): Document | undefined => {
  const { blurhash, description, fileName, focusX, focusY, meta, previewName, type } = media
  if (fileName === null) return undefined
  const original = meta.original
  return {
    type: "Document",
    mediaType: typeOf(fileName),
    url: Urls.file(config, fileName),
    name: description,
    ...(blurhash === null ? {} : { blurhash }),
    ...(focusX === null || focusY === null ? {} : { focalPoint: [focusX, focusY] }),
    ...(original?.width === undefined ? {} : { width: original.width, height: original.height }),
    ...(original !== undefined && "duration" in original ? { duration: `PT${original.duration.toFixed(3)}S` } : {}),
    // Poster frame of video and audio; an image needs no preview.
    ...(type === "image" || previewName === null ? {} : { icon: picture(config, previewName) })
  }
}
