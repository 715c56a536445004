import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import { servedTypes } from "../../media/FileTypes.ts"
import type { MediaRecord } from "../../media/MediaRecord.ts"
import type { Document } from "./Vocabulary.ts"

type Config = Pick<ServerConfig["Service"], "mediaUrl">

/** The type of a stored file, as it is served. */
const typeOf = (name: string): string => servedTypes[name.split(".").at(-1) ?? ""] ?? "application/octet-stream"

/** A stored picture by its name. */
export const picture = (config: Config, name: string): Document => ({
  type: "Image",
  mediaType: typeOf(name),
  url: Urls.file(config, name)
})

/** A file of a note (federation.md section 9); undefined where there is nothing to fetch. */
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
    // What a player shows before it plays; of a picture the picture itself is good enough.
    ...(type === "image" || previewName === null ? {} : { icon: picture(config, previewName) })
  }
}
