import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import type { MediaRecord } from "./MediaRecord.ts"

/** Returns the URLs of a file and its preview; null if not ready or absent. */
export const addressesOf = (config: ServerConfig["Service"], media: MediaRecord) => {
  const { fileName, previewName, previewRemoteKey, previewRemoteUrl, remoteKey, remoteUrl, type } = media
  const file = fileName === null ? Urls.remoteFile(config, remoteUrl, remoteKey) : Urls.file(config, fileName)
  const preview = previewName === null
    ? Urls.remoteFile(config, previewRemoteUrl, previewRemoteKey)
    : Urls.file(config, previewName)
  // Remote images have no smaller rendition.
  return { file, preview: preview ?? (type === "image" && fileName === null ? file : null) }
}
