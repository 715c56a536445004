import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isPublicRow } from "../statuses/Visibility.ts"
import { blocks } from "../visibility/HiddenAccounts.ts"
import { reportCollectionsMax, reportStatusesMax } from "./Reports.ts"

/** Maximum characters of a remote report's comment; the rest is cut (federation.md section 8). */
export const flagCommentCharactersMax = 5_000
/** Maximum reports of a host per day, and how many more it may have from senders with few reports on that day. */
export const flagsPerDayMax = 100
export const flagsOfOthersMax = 25
/** Reports per day from which on a sender has many. A server's instance actor may send those of everybody. */
export const flagsManyMin = 25

const countRows = rowsOf(Schema.Struct({ all: Schema.Int, own: Schema.Int }))

/** A report from another server, usually sent by its instance actor to hide the reporter. */
interface NewFlag {
  /** Id of the activity. */
  readonly uri: string
  readonly target: AccountId
  /**
   * Reported posts. Posts of other authors, and posts that no one on the sender's server could read, are dropped (row
   * 20).
   */
  readonly statusIds: ReadonlyArray<bigint>
  /** Reported collections. Only local collections of the target count, unless the target blocks the sender. */
  readonly collectionIds: ReadonlyArray<bigint>
  readonly comment: string
}

/** Reports from other servers, in the current transaction of the actor that signed them. */
export class Flags extends Context.Service<Flags, {
  /**
   * Files a report and returns its id; undefined if it is known already, or if its sender or host has reached the daily
   * limit.
   */
  readonly file: (sender: AccountId, flag: NewFlag) => Effect.Effect<bigint | undefined, SqlError>
}>()("murmuration/services/moderation/Flags") {
  static readonly layer = Layer.effect(
    Flags,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /**
       * Selects reported posts that someone on the sender's server could read: public ones, or posts for followers or
       * mentioned accounts there.
       */
      const readable = (sender: AccountId, { statusIds, target }: NewFlag) =>
        idRows(sql`
          SELECT s.id FROM statuses s JOIN accounts me ON me.id = ${sender}
          WHERE s.id = ANY (${
          [...new Set(statusIds)].slice(0, reportStatusesMax)
        }::bigint[]) AND s.account_id = ${target} AND NOT s.local_only
            AND (${isPublicRow(sql, "s")}
              OR (s.visibility = 'private' AND EXISTS (SELECT FROM follows f JOIN accounts a ON a.id = f.account_id
                WHERE f.target_account_id = ${target} AND a.domain = me.domain))
              OR EXISTS (SELECT FROM mentions m JOIN accounts a ON a.id = m.account_id
                WHERE m.status_id = s.id AND NOT m.silent AND a.domain = me.domain)) ORDER BY s.id`)

      const collections = (sender: AccountId, { collectionIds, target }: NewFlag) =>
        idRows(
          sql`SELECT c.id FROM collections c WHERE c.id = ANY (${
            [...new Set(collectionIds)].slice(0, reportCollectionsMax)
          }::bigint[]) AND c.account_id = ${target} AND c.local
          AND NOT ${blocks(sql, sql`c.account_id`, sql`${sender}::bigint`)} ORDER BY c.id FOR KEY SHARE`
        )

      /** Serialises the reports of a host until the transaction ends, so that they do not exceed the limit together. */
      const dailyLimitReached = Effect.fnUntraced(function*(sender: AccountId, since: Date) {
        const host = sql`(SELECT domain FROM accounts WHERE id = ${sender})`
        yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('reports of ' || ${host}, 0))`
        const counted = singleRow(
          yield* countRows(sql`SELECT count(*)::int AS all, count(*) FILTER (WHERE r.account_id = ${sender})::int AS own
            FROM reports r JOIN accounts a ON a.id = r.account_id WHERE r.created_at > ${since} AND a.domain = ${host}`)
        )
        return counted.all >= flagsPerDayMax + (counted.own < flagsManyMin ? flagsOfOthersMax : 0)
      })

      const file = traced("Flags.file")(function*(sender: AccountId, flag: NewFlag) {
        const now = yield* Clock.currentTimeMillis
        if (yield* dailyLimitReached(sender, new Date(now - 86_400_000))) return undefined
        const statusIds = (yield* readable(sender, flag)).map(({ id }) => id)
        const collectionIds = (yield* collections(sender, flag)).map(({ id }) => id)
        const [row] = yield* idRows(sql`
          INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids, collection_ids,
            forward_domains, uri, created_at)
          SELECT next_id(${now}), ${sender}, a.id, 'other', ${flag.comment}, ${statusIds}::bigint[], '{}',
            ${collectionIds}::bigint[], '{}', ${flag.uri},
            ${new Date(now)} FROM accounts a WHERE a.id = ${flag.target} AND a.suspended_at IS NULL
          ON CONFLICT (uri) DO NOTHING RETURNING id`)
        return row?.id
      })
      return Flags.of({ file })
    })
  )
}
