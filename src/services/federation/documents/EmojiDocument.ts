import type { Emoji } from "../../instance/Emoji.ts"
import type { ServerConfig } from "../../instance/ServerConfig.ts"
import { servedTypes } from "../../media/FileTypes.ts"
import * as LocalIds from "../LocalIds.ts"
import { type Document, moment } from "./Vocabulary.ts"

/** Returns a local emoji that a text uses, without a context. */
export const emojiDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl">,
  { id, shortcode, updatedAt, url }: Emoji
): Document => ({
  id: LocalIds.emoji(config, id),
  type: "Emoji",
  name: `:${shortcode}:`,
  ...(updatedAt === undefined ? {} : { updated: moment(updatedAt) }),
  icon: { type: "Image", mediaType: servedTypes[url.split(".").at(-1) ?? ""] ?? "image/png", url }
})
