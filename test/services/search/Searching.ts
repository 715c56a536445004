import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

import type { AccountId } from "../../../src/services/database/Ids.ts"
import type { Page } from "../../../src/services/database/Paging.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { StatusSearch } from "../../../src/services/search/StatusSearch.ts"
import { person } from "../../support/People.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

export const layerSearch = Layer.merge(StatusSearch.layer, StatusIndex.layer).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provide(Layer.succeed(ServerConfig, configuration))
)

/** Runs the index until it is up to date. */
export const indexed = Effect.gen(function*() {
  const { step } = yield* StatusIndex
  yield* Effect.repeat(step, { until: (more) => !more })
})

export const find = Effect.fnUntraced(function*(
  viewer: AccountId,
  text: string,
  more: Partial<Page> & { readonly accountId?: bigint; readonly offset?: number } = {}
) {
  yield* indexed
  const { accountId, offset = 0, ...page } = more
  return yield* (yield* StatusSearch).find(viewer, { text, accountId, offset }, { limit: 20, ...page })
})

/** Creates a user whose public posts are searchable. */
export const indexable = Effect.fnUntraced(function*(username: string, domain: string | null = null) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* person(username)
  if (domain !== null) yield* sql`DELETE FROM users WHERE account_id = ${id}`
  yield* sql`UPDATE accounts SET indexable = true, domain = ${domain} WHERE id = ${id}`
  return id
})

export const written = Effect.fnUntraced(function*(author: AccountId, text: string, language: string | null, more: {
  readonly millis?: number
} = {}) {
  const sql = yield* SqlClient.SqlClient
  const now = more.millis ?? (yield* Clock.currentTimeMillis)
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    VALUES (next_id(${now}), ${author}, ${text}, ${`<p>${text}</p>`}, 'public', ${language}, 1, ${new Date(
    now
  )}) RETURNING id`
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${row!.id})`
  return row!.id
})
