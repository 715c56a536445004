import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../Counters.ts"
import { only } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { Visibility } from "./Publications.ts"

/** Reblogs: statuses that wrap another, at most one an account and original. */
export class Reblogs extends Context.Service<Reblogs, {
  /** The account's reblog of `original`, where there is one. */
  readonly find: (accountId: bigint, original: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /** Answers the wrapper's id. `millis` is its time, milliseconds since 1970. */
  readonly insert: (
    accountId: bigint,
    original: bigint,
    visibility: Visibility,
    millis: number
  ) => Effect.Effect<bigint, SqlError>
  /** Takes down at most `limit` reblogs of a deleted status, with ids above `cursor`; answers their ids. */
  readonly removeAll: (
    original: bigint,
    cursor: bigint,
    limit: number,
    millis: number
  ) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/statuses/Reblogs") {
  static readonly layer = Layer.effect(
    Reblogs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Reblogs.of({
        find: traced("Reblogs.find")(function*(accountId, original) {
          const [row] = yield* sql<{ id: bigint }>`SELECT id FROM statuses
            WHERE account_id = ${accountId} AND reblog_of_id = ${original} AND deleted_at IS NULL`
          return row?.id
        }),
        insert: traced("Reblogs.insert")(function*(accountId, original, visibility, millis) {
          const at = new Date(millis)
          const rows = yield* sql<{ id: bigint }>`
            WITH fresh AS MATERIALIZED (SELECT next_id(${millis}) AS id),
            made AS (
              INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, created_at)
              SELECT fresh.id, ${accountId}, ${visibility}, o.id, o.conversation_id, ${at}
              FROM fresh, statuses o WHERE o.id = ${original} RETURNING id),
            stats AS (INSERT INTO status_stats (status_id) SELECT id FROM fresh)
            SELECT id FROM made`
          yield* Counters.count(sql, [{ accountId, statuses: 1 }], [{ statusId: original, reblogs: 1 }], at)
          return only(rows).id
        }),
        removeAll: traced("Reblogs.removeAll")(function*(original, cursor, limit, millis) {
          const rows = yield* sql<{ id: bigint; accountId: bigint }>`
            UPDATE statuses SET deleted_at = ${new Date(millis)} WHERE id IN (
              SELECT id FROM statuses WHERE reblog_of_id = ${original} AND deleted_at IS NULL AND id > ${cursor}
              ORDER BY id LIMIT ${limit})
            RETURNING id, account_id`
          yield* Counters.count(
            sql,
            rows.map(({ accountId }) => ({ accountId, statuses: -1 })),
            rows.length === 0 ? [] : [{ statusId: original, reblogs: -rows.length }]
          )
          return rows.map(({ id }) => id).sort((a, b) => a < b ? -1 : 1)
        })
      })
    })
  )
}
