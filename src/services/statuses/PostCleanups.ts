import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { defaultCleanup, PostCleanup } from "./PostCleanup.ts"

/** Maximum posts that a step examines, and that it deletes. */
const examinedMax = 200
const deletedPerStepMax = 10
const dayMillis = 86_400_000

const policyRows = rowsOf(PostCleanup)
const dueRows = rowsOf(Schema.Struct({ ...PostCleanup.fields, examinedId: Schema.BigInt, suspended: Schema.Boolean }))
const examinedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, old: Schema.Boolean, exempt: Schema.Boolean }))

/** Result of a step over an account's posts, oldest first. */
interface CleanupStep {
  /** Posts to delete, `deletedPerStepMax` at most. */
  readonly statusIds: ReadonlyArray<bigint>
  /** True if older posts may be left; false at the end of a pass. */
  readonly more: boolean
}

/** Policies for the automated deletion of old posts, written and run in transactions of the owner's actor. */
export class PostCleanups extends Context.Service<PostCleanups, {
  readonly of: (owner: AccountId) => Effect.Effect<PostCleanup>
  /** Replaces the policy and starts a new pass. */
  readonly write: (owner: AccountId, policy: PostCleanup) => Effect.Effect<void, SqlError>
  /**
   * Selects the next posts to delete, and notes how far the pass is. Returns undefined without an enabled policy.
   * Boosts are kept.
   */
  readonly step: (owner: AccountId) => Effect.Effect<CleanupStep | undefined, SqlError>
}>()("murmuration/services/statuses/PostCleanups") {
  static readonly layer = Layer.effect(
    PostCleanups,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(
        "enabled, min_age_days, keep_direct, keep_pinned, keep_polls, keep_media, keep_own_favourites, " +
          "keep_own_bookmarks, min_favourites, min_reblogs"
      )

      const of = traced("PostCleanups.of")(function*(owner: AccountId) {
        const [row] = yield* policyRows(sql`SELECT ${columns} FROM post_cleanups WHERE account_id = ${owner}`)
        return row ?? defaultCleanup
      }, Effect.orDie)

      const write = traced("PostCleanups.write")((owner: AccountId, policy: PostCleanup) => {
        const row = { ...policy, examinedId: 0n }
        return Effect.asVoid(sql`INSERT INTO post_cleanups ${sql.insert({ ...row, accountId: owner })}
          ON CONFLICT (account_id) DO UPDATE SET ${sql.update(row)}`)
      })

      const step = traced("PostCleanups.step")(function*(owner: AccountId) {
        const [policy] = yield* dueRows(sql`SELECT ${columns}, examined_id, a.suspended_at IS NOT NULL AS suspended
          FROM post_cleanups c JOIN accounts a ON a.id = c.account_id JOIN users u ON u.account_id = a.id
          WHERE c.account_id = ${owner}`)
        if (policy === undefined || !policy.enabled) return undefined
        if (policy.suspended) return { statusIds: [], more: false }
        const cutoff = new Date((yield* Clock.currentTimeMillis) - policy.minAgeDays * dayMillis)
        const examined = yield* examinedRows(sql`
          SELECT s.id, s.created_at < ${cutoff} AS old,
            (${policy.keepDirect} AND s.visibility = 'direct')
            OR (${policy.keepPinned} AND EXISTS (SELECT FROM status_pins p WHERE p.status_id = s.id))
            OR (${policy.keepPolls} AND EXISTS (SELECT FROM polls p WHERE p.status_id = s.id))
            OR (${policy.keepMedia} AND EXISTS (SELECT FROM media_attachments m WHERE m.status_id = s.id))
            OR (${policy.keepOwnFavourites}
              AND EXISTS (SELECT FROM favourites f WHERE f.status_id = s.id AND f.account_id = ${owner}))
            OR (${policy.keepOwnBookmarks}
              AND EXISTS (SELECT FROM bookmarks b WHERE b.status_id = s.id AND b.account_id = ${owner}))
            OR coalesce(c.favourites_count >= ${policy.minFavourites}::int, false)
            OR coalesce(c.reblogs_count >= ${policy.minReblogs}::int, false) AS exempt
          FROM (SELECT id, created_at, visibility FROM statuses
            WHERE account_id = ${owner} AND deleted_at IS NULL AND reblog_of_id IS NULL AND id > ${policy.examinedId}
            ORDER BY id LIMIT ${rowsMax(sql, examinedMax)}) s
          LEFT JOIN status_stats c ON c.status_id = s.id ORDER BY s.id`)
        const statusIds: Array<bigint> = []
        let last = policy.examinedId
        let more = examined.length === examinedMax
        for (const { id, exempt, old } of examined) {
          if (!old) {
            more = false
            break
          }
          if (!exempt && statusIds.length === deletedPerStepMax) {
            more = true
            break
          }
          if (!exempt) statusIds.push(id)
          last = id
        }
        yield* sql`UPDATE post_cleanups SET examined_id = ${more ? last : 0n} WHERE account_id = ${owner}`
        return { statusIds, more }
      })
      return PostCleanups.of({ of, write, step })
    })
  )
}
