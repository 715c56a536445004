import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { addressesOf } from "../../services/media/MediaAddresses.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { Values } from "../wire/Keys.ts"
import type { MediaAttachment } from "../wire/MediaAttachment.ts"

/** Returns a file's values for the API; `url` is null until it is ready, `preview_url` also if it has none (S-073). */
export const mediaValues = (
  config: ServerConfig["Service"],
  media: MediaRecord
): Values<MediaAttachment> => {
  const { blurhash, description, focusX, focusY, id, meta, previewRemoteUrl, remoteUrl, type } = media
  const { file, preview } = addressesOf(config, media)
  const focus = focusX === null || focusY === null ? undefined : { x: focusX, y: focusY }
  return {
    id,
    type,
    url: file,
    previewUrl: preview,
    remoteUrl,
    previewRemoteUrl,
    textUrl: null,
    meta: { ...meta, ...(focus && { focus }) },
    description,
    blurhash
  }
}
