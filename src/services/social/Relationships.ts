import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { blocks, blocksDomain, isUnexpiredAt } from "../visibility/HiddenAccounts.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"

/**
 * Relationship of a viewer to an account. A request counts as a follow for `showingReblogs` and `notifying` (S-050).
 */
export const RelationshipRecord = Schema.Struct({
  id: Schema.BigInt,
  following: Schema.Boolean,
  showingReblogs: Schema.Boolean,
  notifying: Schema.Boolean,
  languages: Schema.NullOr(Schema.Array(Schema.String)),
  followedBy: Schema.Boolean,
  blocking: Schema.Boolean,
  blockedBy: Schema.Boolean,
  muting: Schema.Boolean,
  mutingNotifications: Schema.Boolean,
  mutingReplies: Schema.Boolean,
  mutingExpiresAt: Schema.NullOr(Timestamptz),
  requested: Schema.Boolean,
  requestedBy: Schema.Boolean,
  domainBlocking: Schema.Boolean,
  endorsed: Schema.Boolean,
  note: Schema.String
})
export type RelationshipRecord = typeof RelationshipRecord.Type
const relationshipRecordRows = rowsOf(RelationshipRecord)

/** Maximum ids of one request; the rest is ignored. */
const relationshipsMax = 1_000

/** Reads relationships: any number of accounts by one query. */
export class Relationships extends Context.Service<Relationships, {
  /** Returns one relationship for each known account, deduped, in id order; suspended ones only `withSuspended`. */
  readonly of: (
    viewer: AccountId,
    ids: ReadonlyArray<bigint>,
    options?: { readonly withSuspended: boolean }
  ) => Effect.Effect<ReadonlyArray<RelationshipRecord>>
}>()("murmuration/services/social/Relationships") {
  static readonly layer = Layer.effect(
    Relationships,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("Relationships.of")(
        function*(viewer: AccountId, ids: ReadonlyArray<bigint>, options?: { readonly withSuspended: boolean }) {
          if (ids.length === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const me = sql`${viewer}::bigint`
          return yield* relationshipRecordRows(sql`
            SELECT a.id, f.id IS NOT NULL AS following,
              coalesce(f.show_reblogs, q.show_reblogs, false) AS showing_reblogs,
              coalesce(f.notify, q.notify, false) AS notifying, coalesce(f.languages, q.languages) AS languages,
              EXISTS (SELECT FROM follows x WHERE x.account_id = a.id AND x.target_account_id = ${viewer}) AS followed_by,
              ${blocks(sql, me, sql`a.id`)} AS blocking,
              ${blocks(sql, sql`a.id`, me)} AS blocked_by,
              m.id IS NOT NULL AS muting, coalesce(m.hide_notifications, false) AS muting_notifications,
              coalesce(m.allow_replies, false) AS muting_replies,
              m.expires_at AS muting_expires_at, q.id IS NOT NULL AS requested,
              EXISTS (SELECT FROM follow_requests x WHERE x.account_id = a.id AND x.target_account_id = ${viewer}) AS requested_by,
              ${blocksDomain(sql, me, sql`a.id`)} AS domain_blocking,
              EXISTS (SELECT FROM endorsements x WHERE x.account_id = ${viewer} AND x.target_account_id = a.id) AS endorsed,
              coalesce(n.comment, '') AS note
            FROM accounts a
            LEFT JOIN follows f ON f.account_id = ${viewer} AND f.target_account_id = a.id
            LEFT JOIN follow_requests q ON q.account_id = ${viewer} AND q.target_account_id = a.id
            LEFT JOIN mutes m ON m.account_id = ${viewer} AND m.target_account_id = a.id
              AND ${isUnexpiredAt(sql, "m.expires_at", now)}
            LEFT JOIN account_notes n ON n.account_id = ${viewer} AND n.target_account_id = a.id
            WHERE a.id = ANY (${[...new Set(ids)].slice(0, relationshipsMax)}::bigint[])
              AND (${options?.withSuspended === true} OR a.suspended_at IS NULL) AND ${sql.literal(presentAccount("a"))}
            ORDER BY a.id`)
        },
        Effect.orDie
      )
      return Relationships.of({ of })
    })
  )
}
