import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"

/** Returns a hashtag featured on a profile; it links to the account's posts with it. */
export const hashtag = (config: Pick<ServerConfig["Service"], "publicUrl">, username: string, name: string) => ({
  type: "Hashtag",
  href: Urls.taggedProfile(config, username, name),
  name: `#${name}`
})
