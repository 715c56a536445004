import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeByteLimit } from "../../html/ByteLimit.ts"
import { handle } from "../../html/TextTokens.ts"
import { statusBytesMax } from "../../instance/ContentLimits.ts"
import { Drafts, namedBy } from "../../statuses/Drafts.ts"
import type { ContentType } from "../../statuses/StoredStatus.ts"
import type { TextRow } from "../Step.ts"

/** Returns the type of a source text; undefined for HTML, which forks of Mastodon also take from apps. */
const sourceType = (row: TextRow): ContentType | undefined => {
  if (row["is_local"] !== "true" || row["content_type"] === "text/html") return undefined
  return row["content_type"] === "text/markdown" ? "text/markdown" : "text/plain"
}

/**
 * Returns a function that renders the `text` of rows as `html`. Texts of local posts (`is_local`) are source, by their
 * `content_type`; HTML, as of other servers, is sanitised and shortened.
 */
export const renderer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const drafts = yield* Drafts
  return Effect.fnUntraced(function*(rows: ReadonlyArray<TextRow>) {
    const own = new Map(
      rows.flatMap((row) => {
        const type = sourceType(row)
        return type === undefined ? [] : [[row, { type, ...drafts.names(row["text"] ?? "", type) }] as const]
      })
    )
    const handles = new Set<string>()
    for (const names of own.values()) for (const name of names.handles) handles.add(name)
    const found = handles.size === 0 ? [] : yield* namedBy(sql, handles)
    const byHandle = new Map(found.map((account) => [handle(account.username, account.domain ?? undefined), account]))
    return rows.map((row): TextRow => {
      const names = own.get(row)
      const named = [...names?.handles ?? []].flatMap((name) => byHandle.get(name) ?? [])
      const room = makeByteLimit(statusBytesMax)
      const text = row["text"] ?? ""
      return names === undefined
        ? { ...row, ["spoiler_text"]: room.text(row["spoiler_text"] ?? ""), html: room.html(text) }
        : { ...row, html: drafts.write(text, names, named, names.type).html }
    })
  }, Effect.orDie)
})
