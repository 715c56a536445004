import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"

/** A hashtag on somebody's profile, as others read it; the link leads to their posts with it. */
export const hashtag = (config: Pick<ServerConfig["Service"], "publicUrl">, username: string, name: string) => ({
  type: "Hashtag",
  href: Urls.taggedProfile(config, username, name),
  name: `#${name}`
})
