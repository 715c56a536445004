import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { Values } from "../wire/Keys.ts"
import type { MediaAttachment } from "../wire/MediaAttachment.ts"

/** A file as clients see it; `url` is null until it is ready, `preview_url` also where there is none (S-073). */
export const mediaValues = (
  config: ServerConfig["Service"],
  { blurhash, description, fileName, focusX, focusY, id, meta, previewName, type }: MediaRecord
): Values<MediaAttachment> => {
  const focus = focusX === null || focusY === null ? undefined : { x: focusX, y: focusY }
  return {
    id,
    type,
    url: fileName === null ? null : Urls.file(config, fileName),
    previewUrl: previewName === null ? null : Urls.file(config, previewName),
    remoteUrl: null,
    previewRemoteUrl: null,
    textUrl: null,
    meta: { ...meta, ...(focus && { focus }) },
    description,
    blurhash
  }
}
