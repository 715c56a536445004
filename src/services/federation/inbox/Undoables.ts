import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../Ids.ts"
import { lastly } from "../../Jointly.ts"
import { traced } from "../../Traced.ts"

export type UndoableType = "Announce" | "Follow" | "Like" | "Block"

/** What an activity did, and to what: an account, or the status of a Like. */
export interface Undoable {
  readonly type: UndoableType
  readonly targetId: bigint
}

/**
 * Ids of activities that remote accounts did here, for those who undo by id alone. Boosts are statuses and
 * known by theirs; one that a later boost of the same post stands for is here.
 */
export class Undoables extends Context.Service<Undoables, {
  readonly remember: (accountId: AccountId, uri: string, done: Undoable) => Effect.Effect<void, SqlError>
  /** A boost that stands came anew: by that id it is taken back from now on, for what takes the old one back may come late. */
  readonly renew: (accountId: AccountId, boostId: bigint, uri: string) => Effect.Effect<void, SqlError>
  /** A boost of the account gives its id to a later one of the account; false where the id is that of something else. */
  readonly release: (accountId: AccountId, uri: string) => Effect.Effect<boolean, SqlError>
  /** What the account did under the id, which is forgotten by that. */
  readonly take: (accountId: AccountId, uri: string) => Effect.Effect<Undoable | undefined, SqlError>
}>()("murmuration/services/federation/inbox/Undoables") {
  static readonly layer = Layer.effect(
    Undoables,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const remember = lastly(
        (all: ReadonlyArray<Undoable & { readonly accountId: AccountId; readonly uri: string }>) => {
          // The last of a row that is named twice, which no statement may write twice.
          const rows = [...new Map(all.map((row) => [`${row.accountId} ${row.uri}`, row])).values()]
          return Effect.asVoid(sql`INSERT INTO undoable_activities (account_id, uri, type, target_id)
          SELECT * FROM unnest(${rows.map(({ accountId }) => accountId)}::bigint[], ${
            rows.map(({ uri }) => uri)
          }::text[],
            ${rows.map(({ type }) => type)}::text[], ${rows.map(({ targetId }) => targetId)}::bigint[])
          ON CONFLICT (account_id, uri) DO UPDATE SET type = excluded.type, target_id = excluded.target_id`)
        }
      )

      return Undoables.of({
        remember: traced("Undoables.remember")((accountId, uri, done) => remember({ ...done, accountId, uri })),
        renew: traced("Undoables.renew")((accountId, boostId, uri) =>
          Effect.asVoid(sql`WITH old AS (SELECT id, uri, reblog_of_id FROM statuses
              WHERE id = ${boostId} AND account_id = ${accountId} AND uri <> ${uri}),
            renewed AS (UPDATE statuses s SET uri = ${uri} FROM old WHERE s.id = old.id)
            INSERT INTO undoable_activities (account_id, uri, type, target_id)
            SELECT ${accountId}, uri, 'Announce', reblog_of_id FROM old ON CONFLICT DO NOTHING`)
        ),
        release: traced("Undoables.release")((accountId, uri) =>
          Effect.map(
            sql`UPDATE statuses SET uri = uri || '#' || id WHERE uri = ${uri} AND account_id = ${accountId}
              AND reblog_of_id IS NOT NULL RETURNING id`,
            (rows) => rows.length > 0
          )
        ),
        take: traced("Undoables.take")((accountId, uri) =>
          Effect.map(
            sql<Undoable>`DELETE FROM undoable_activities WHERE account_id = ${accountId} AND uri = ${uri}
              RETURNING type, target_id`,
            ([row]) => row
          )
        )
      })
    })
  )
}
