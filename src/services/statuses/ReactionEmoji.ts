import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"

/** Different emoji among the reactions to one status, and of one account to it. */
export const reactionsMax = 50
export const accountReactionsMax = 10

/** Characters of what somebody names as an emoji. */
const nameCharactersMax = 400

/** What somebody reacts with: an emoji of Unicode, or a custom one by its shortcode and id. */
export interface ReactionEmoji {
  readonly name: string
  readonly emojiId: bigint | null
}

/** A custom emoji as it is named: by its shortcode, and whose it is where it is another server's. */
interface CustomName {
  readonly shortcode: string
  readonly domain: string | undefined
}

/** `name` or `name@domain`, in colons or without. */
export const customName = (text: string): CustomName | undefined => {
  if (text.length > nameCharactersMax) return undefined
  const bare = text.startsWith(":") && text.endsWith(":") ? text.slice(1, -1) : text
  const [, shortcode, domain] = /^([a-zA-Z0-9_]{1,128})(?:@([^\s:@/]{1,255}(?::\d{1,5})?))?$/.exec(bare) ?? []
  return shortcode === undefined ? undefined : { shortcode, domain: domain?.toLowerCase() }
}

/** A reaction to a status as its viewer gets it. */
export interface Reaction {
  /** `name`, or `name@domain` where it is an emoji of another server. */
  readonly name: string
  readonly count: number
  readonly me: boolean
  /** The picture of a custom emoji. */
  readonly url: string | null
  readonly staticUrl: string | null
}

/** The emoji of a row `c` that has its name and, joined as `e`, the custom one. */
export const emojiColumns = (sql: SqlClient): Fragment =>
  sql`c.name, e.domain, e.url, e.static_url, e.file_name, e.static_name, remote_key(e.url) AS key`

/** A condition on rows of reactions, or of their counts: they are with this emoji. */
export const isEmoji = (sql: SqlClient, alias: string, { emojiId, name }: ReactionEmoji): Fragment =>
  sql`${sql.literal(alias)}.name = ${name} AND coalesce(${sql.literal(alias)}.custom_emoji_id, 0) = ${emojiId ?? 0n}`

/** Those that nobody has switched off. */
export const isShown = (sql: SqlClient): Fragment => sql`(c.custom_emoji_id IS NULL OR NOT e.disabled)`

const NullableText = Schema.NullOr(Schema.String)
export const EmojiRow = Schema.Struct({
  name: Schema.String,
  domain: NullableText,
  url: NullableText,
  staticUrl: NullableText,
  fileName: NullableText,
  staticName: NullableText,
  key: NullableText
})
export type EmojiRow = typeof EmojiRow.Type

/** How clients know the emoji of a row. */
export const namedAs = (
  config: ServerConfig["Service"],
  { domain, fileName, key, name, staticName, staticUrl, url }: EmojiRow
): Pick<Reaction, "name" | "staticUrl" | "url"> => {
  if (domain !== null) {
    const address = Urls.remoteFile(config, url, key) ?? url
    return { name: `${name}@${domain}`, url: address, staticUrl: address }
  }
  const address = fileName === null ? url : Urls.file(config, fileName)
  return { name, url: address, staticUrl: (staticName === null ? staticUrl : Urls.file(config, staticName)) ?? address }
}
