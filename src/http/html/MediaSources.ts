import type { ServerConfig } from "../../services/instance/ServerConfig.ts"

/** Returns the CSP sources of images, video and audio on our pages. */
export const mediaSources = (
  { mediaProxied, mediaUrl, publicUrl }: Pick<ServerConfig["Service"], "mediaProxied" | "mediaUrl" | "publicUrl">
): string => {
  const { origin } = new URL(mediaUrl)
  return [
    "'self'",
    ...(origin === publicUrl ? [] : [origin]),
    // Files of remote accounts may then be on any host.
    ...(mediaProxied ? [] : ["https:"])
  ].join(" ")
}
