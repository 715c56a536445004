import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AdminModerationSuggestion } from "../../../src/http/lists/wire/ModerationList.ts"
import { ask } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Person } from "../../support/Server.ts"
import { OtherServer } from "../activitypub/Sending.ts"

export const path = "/api/v1/admin/moderation_lists"
export const header = "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n"

/** Serves a list on the other server; its content can be changed at any time. */
export const published = Effect.fnUntraced(function*(name: string, type: string, first: string) {
  const { documents, url } = yield* OtherServer
  let text = first
  documents.set(`/lists/${name}`, (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(text === "" ? 503 : 200, { "content-type": type }).end(text)
  })
  return {
    url: `${url}/lists/${name}`,
    say: (content: string) => {
      text = content
    }
  }
})

/** Syncs a list, and waits for the end. */
export const synced = Effect.fnUntraced(function*(by: Person, id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* ask(by, "POST", `${path}/${id}/sync`)
  yield* eventually(
    sql<
      { waiting: boolean }
    >`SELECT due_at <= now() + interval '1 second' AS waiting FROM moderation_lists WHERE id = ${BigInt(id)}`,
    ([row]) => row?.waiting !== true
  )
  // The claim is made first, its effects follow a moment later.
  const { body: before } = yield* ask(by, "GET", `${path}/${id}`)
  return before
})
export const rules = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ domain: string; severity: string; listId: bigint | null }>`
    SELECT domain, severity, list_id FROM domain_blocks ORDER BY domain`
  return rows.map(({ domain, listId, severity }) => `${domain} ${severity}${listId === null ? "" : " by list"}`)
})
export const becomes = (expected: ReadonlyArray<string>) =>
  Effect.andThen(eventually(rules, (found) => JSON.stringify(found) === JSON.stringify(expected)), rules)
export const suggested = (by: Person) =>
  Effect.map(
    ask(by, "GET", "/api/v1/admin/moderation_suggestions"),
    ({ body }): ReadonlyArray<AdminModerationSuggestion> => body
  )
export const short = (all: ReadonlyArray<AdminModerationSuggestion>) =>
  all.map(({ action, domain }) => `${domain} ${action}`).toSorted()
export const emptyTables = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["moderation_suggestions", "domain_blocks", "moderation_lists"]) {
    yield* sql`DELETE FROM ${sql(table)}`
  }
})
