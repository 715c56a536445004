import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf } from "../database/Rows.ts"
import type { Emoji } from "./Emoji.ts"
import type { ServerConfig } from "./ServerConfig.ts"
import * as Urls from "./Urls.ts"

/** Maximum remote emoji on a page. */
const foreignEmojisMax = 2_000

/** Texts of an account or a status. `uri` is the id of a remote one, whose server's emoji the texts use. */
export interface EmojiSource {
  readonly uri: string | null
  readonly local: boolean
  readonly texts: ReadonlyArray<string>
}

const shortcodes = /:([a-zA-Z0-9_]{2,2048}):/g

/** Maximum emoji that the texts of an account or status show. */
const shownEmojisMax = 100

/** Returns the shortcodes between colons, without duplicates. */
const shortcodesOf = (texts: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => Array.from(text.matchAll(shortcodes), ([, shortcode = ""]) => shortcode)))

/** Replaces every tag of sanitised HTML by a space: shortcodes inside tags do not count (row 41). */
export const textNodes = (html: string): string => html.replace(/<[^<>]*>/g, " ")

const hostOf = ({ local, uri }: Pick<EmojiSource, "local" | "uri">) =>
  local || uri === null ? undefined : URL.parse(uri)?.host

const emojiRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  shortcode: Schema.String,
  domain: Schema.String,
  url: Schema.String,
  key: Schema.String,
  visibleInPicker: Schema.Boolean,
  category: Schema.NullOr(Schema.String)
}))

/** Loads the remote emoji of texts, in one query for all; without shortcodes runs none. */
export const load = Effect.fnUntraced(function*(
  sql: SqlClient,
  config: ServerConfig["Service"],
  sources: ReadonlyArray<EmojiSource>
) {
  const shortcodes = new Map<string, readonly [domain: string, shortcode: string]>()
  for (const source of sources) {
    const domain = hostOf(source)
    if (domain === undefined) continue
    for (const shortcode of shortcodesOf(source.texts)) shortcodes.set(`${domain} ${shortcode}`, [domain, shortcode])
  }
  const found = new Map<string, Emoji>()
  const asked = [...shortcodes.values()].slice(0, foreignEmojisMax)
  const rows = asked.length === 0 ? [] : yield* emojiRows(sql`
    SELECT e.id, e.shortcode, e.domain, e.url, remote_key(e.url) AS key, e.visible_in_picker, e.category
    FROM unnest(${asked.map(([domain]) => domain)}::text[], ${asked.map(([, shortcode]) => shortcode)}::text[])
      AS named (domain, shortcode)
    JOIN custom_emojis e ON e.domain = named.domain AND e.shortcode = named.shortcode AND coalesce(e.domain, '') = named.domain
    WHERE NOT e.disabled AND e.url IS NOT NULL`)
  for (const { domain, key, ...row } of rows) {
    const url = Urls.remoteFile(config, row.url, key) ?? row.url
    found.set(`${domain} ${row.shortcode}`, { ...row, url, staticUrl: url })
  }
  return (source: EmojiSource): ReadonlyArray<Emoji> => {
    const domain = hostOf(source)
    return domain === undefined
      ? []
      : [...shortcodesOf(source.texts)].flatMap((shortcode) => found.get(`${domain} ${shortcode}`) ?? [])
        .slice(0, shownEmojisMax)
  }
})
