import type { ServerConfig } from "../../services/instance/ServerConfig.ts"

/** Where pictures, videos and sounds of our pages come from, as a policy names it. */
export const mediaSources = (
  { mediaProxied, mediaUrl, publicUrl }: Pick<ServerConfig["Service"], "mediaProxied" | "mediaUrl" | "publicUrl">
): string => {
  const { origin } = new URL(mediaUrl)
  return [
    "'self'",
    ...(origin === publicUrl ? [] : [origin]),
    // Files of remote accounts are anywhere then.
    ...(mediaProxied ? [] : ["https:"])
  ].join(" ")
}
