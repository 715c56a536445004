import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"

/** Maximum different emoji on a status, and maximum of one account on it. */
export const reactionsMax = 50
export const accountReactionsMax = 10

/** Maximum characters of an emoji's name. */
const nameCharactersMax = 400

/** A Unicode emoji, or a custom one by its shortcode and id. */
export interface ReactionEmoji {
  readonly name: string
  readonly emojiId: bigint | null
}

/** Name of a custom emoji: its shortcode, and the domain if remote. */
interface CustomName {
  readonly shortcode: string
  readonly domain: string | undefined
}

/** Parses `name` or `name@domain`, with or without colons; undefined if invalid. */
export const customName = (text: string): CustomName | undefined => {
  if (text.length > nameCharactersMax) return undefined
  const bare = text.startsWith(":") && text.endsWith(":") ? text.slice(1, -1) : text
  const [, shortcode, domain] = /^([a-zA-Z0-9_]{1,128})(?:@([^\s:@/]{1,255}(?::\d{1,5})?))?$/.exec(bare) ?? []
  return shortcode === undefined ? undefined : { shortcode, domain: domain?.toLowerCase() }
}

/** A reaction to a status as its viewer sees it. */
export interface Reaction {
  /** `name`, or `name@domain` for a remote emoji. */
  readonly name: string
  readonly count: number
  readonly me: boolean
  /** Image of a custom emoji. */
  readonly url: string | null
  readonly staticUrl: string | null
}

/** SQL columns of the emoji of a row `c` with a name, and the custom emoji joined as `e`. */
export const emojiColumns = (sql: SqlClient): Fragment =>
  sql`c.name, e.domain, e.url, e.static_url, e.file_name, e.static_name, remote_key(e.url) AS key`

/** Condition: a row of reactions, or of their counts, has this emoji. */
export const isEmoji = (sql: SqlClient, alias: string, { emojiId, name }: ReactionEmoji): Fragment =>
  sql`${sql.literal(alias)}.name = ${name} AND coalesce(${sql.literal(alias)}.custom_emoji_id, 0) = ${emojiId ?? 0n}`

/** Condition: the emoji is not disabled. */
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

/** Returns the name and URLs of a row's emoji for clients. */
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
