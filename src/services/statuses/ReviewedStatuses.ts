import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import { HeldStatuses } from "./HeldStatuses.ts"
import { update } from "./StatusRows.ts"
import { Visibility } from "./Visibility.ts"

const heldRows = rowsOf(Schema.Struct({
  visibility: Visibility,
  mentioned: Schema.Array(Schema.BigInt),
  readers: Schema.Array(Schema.BigInt)
}))

/**
 * Posts held for moderation. Until the review, a post is visible to its author only and not counted, like posts in
 * `HeldStatuses`. Called in the current transaction of the author's actor.
 */
export class ReviewedStatuses extends Context.Service<ReviewedStatuses, {
  /** Holds a new, unpublished status. */
  readonly hold: (statusId: bigint, ruleId: bigint) => Effect.Effect<void, SqlError>
  /** Holds a status again after an edit, which may mention other accounts. */
  readonly holdAgain: (statusId: bigint) => Effect.Effect<void, SqlError>
  readonly isHeld: (statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Publishes a held status to its audience; false if it is not held. */
  readonly release: (author: AccountId, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /**
   * Prepares the deletion of a held status: counts it again, as the deletion subtracts it. Returns true if it was held.
   */
  readonly forget: (author: AccountId, statusId: bigint) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/ReviewedStatuses") {
  static readonly layer = Layer.effect(
    ReviewedStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const { count, countPublished: shown, uncount } = yield* HeldStatuses

      const named = (statusId: bigint, quiet: boolean) =>
        sql`ARRAY(SELECT account_id FROM mentions WHERE status_id = ${statusId} AND NOT silent AND quiet = ${quiet})`
      const silence = (statusId: bigint) =>
        tracked("status", [statusId])(
          sql`UPDATE mentions SET silent = true WHERE status_id = ${statusId} AND NOT silent`
        )
      const taken = (author: AccountId, statusId: bigint) =>
        heldRows(sql`DELETE FROM held_posts WHERE status_id = ${statusId} AND account_id = ${author}
          RETURNING visibility, mentioned, readers`)

      return ReviewedStatuses.of({
        hold: traced("ReviewedStatuses.hold")(function*(statusId, ruleId) {
          const at = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO held_posts (status_id, account_id, rule_id, visibility, mentioned, readers, created_at)
            SELECT s.id, s.account_id, (SELECT id FROM spam_rules WHERE id = ${ruleId}), s.visibility,
              ${named(statusId, false)}, ${named(statusId, true)}, ${at} FROM statuses s WHERE s.id = ${statusId}`
          yield* uncount(statusId)
          yield* tracked("status", [statusId])(sql`${update(sql, { visibility: "direct" })} WHERE id = ${statusId}`)
          yield* silence(statusId)
        }),
        holdAgain: traced("ReviewedStatuses.holdAgain")(function*(statusId) {
          yield* sql`UPDATE held_posts SET mentioned = ${named(statusId, false)}, readers = ${named(statusId, true)}
            WHERE status_id = ${statusId}`
          yield* silence(statusId)
        }),
        isHeld: traced("ReviewedStatuses.isHeld")((statusId) =>
          Effect.map(sql`SELECT FROM held_posts WHERE status_id = ${statusId}`, (rows) => rows.length > 0)
        ),
        release: traced("ReviewedStatuses.release")(function*(author, statusId) {
          const [held] = yield* taken(author, statusId)
          if (held === undefined) return false
          const { mentioned, readers, visibility } = held
          yield* tracked("status", [statusId])(sql`${update(sql, { visibility })} WHERE id = ${statusId}`)
          yield* tracked("status", [statusId])(
            sql`UPDATE mentions SET silent = false, quiet = account_id = ANY (${readers}::bigint[])
            WHERE status_id = ${statusId} AND account_id = ANY (${[...mentioned, ...readers]}::bigint[])`
          )
          yield* shown(statusId)
          return true
        }),
        forget: traced("ReviewedStatuses.forget")(function*(author, statusId) {
          const [held] = yield* taken(author, statusId)
          if (held !== undefined) yield* count(statusId, 1)
          return held !== undefined
        })
      })
    })
  )
}
