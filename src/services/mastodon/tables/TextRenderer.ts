import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeByteLimit } from "../../html/ByteLimit.ts"
import { handle } from "../../html/TextTokens.ts"
import { statusBytesMax } from "../../instance/ContentLimits.ts"
import { Drafts, namedBy } from "../../statuses/Drafts.ts"
import type { TextRow } from "../Step.ts"

/**
 * Returns a function that renders the `text` of rows as `html`. Texts of local posts (`is_local`) are source; those of
 * other servers are HTML, which is sanitised and shortened.
 */
export const renderer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const drafts = yield* Drafts
  return Effect.fnUntraced(function*(rows: ReadonlyArray<TextRow>) {
    const own = new Map(
      rows.flatMap((row) => row["is_local"] === "true" ? [[row, drafts.names(row["text"] ?? "")] as const] : [])
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
        : { ...row, html: drafts.write(text, names, named).html }
    })
  }, Effect.orDie)
})
