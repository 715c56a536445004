import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { blocks } from "../HiddenAccounts.ts"
import type { AccountId } from "../Ids.ts"
import { idRows } from "../Rows.ts"
import { isOpenRow } from "../statuses/Visibility.ts"
import { traced } from "../Traced.ts"
import { reportCollectionsMax, reportStatusesMax } from "./Reports.ts"

/** Characters of a comment from elsewhere; the rest is cut (federation.md section 8). */
export const flagCommentCharactersMax = 5_000
/** Reports that one host may send in a day. */
export const flagsPerDayMax = 100

/** A report from another server, mostly by the server itself, so that nobody learns who it was. */
interface NewFlag {
  /** The activity's id. */
  readonly uri: string
  readonly target: AccountId
  /** Those that are not by the target, or that nobody there could read, are left out (row 20). */
  readonly statusIds: ReadonlyArray<bigint>
  /** Those of the target are taken, as far as it does not keep the sender out. */
  readonly collectionIds: ReadonlyArray<bigint>
  readonly comment: string
}

/** Reports of other servers, in the running transaction of the actor who signed them. */
export class Flags extends Context.Service<Flags, {
  /** Answers the report's id; undefined where it is here already, or where its host has sent enough for today. */
  readonly file: (sender: AccountId, flag: NewFlag) => Effect.Effect<bigint | undefined, SqlError>
}>()("murmuration/services/moderation/Flags") {
  static readonly layer = Layer.effect(
    Flags,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** What somebody on that server could read: what is for everybody, for followers or for the mentioned there. */
      const readable = (sender: AccountId, { statusIds, target }: NewFlag) =>
        idRows(sql`
          SELECT s.id FROM statuses s JOIN accounts me ON me.id = ${sender}
          WHERE s.id = ANY (${
          [...new Set(statusIds)].slice(0, reportStatusesMax)
        }::bigint[]) AND s.account_id = ${target} AND NOT s.local_only
            AND (${isOpenRow(sql, "s")}
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

      const isEnough = (sender: AccountId, since: Date) =>
        Effect.map(
          sql`SELECT FROM reports r JOIN accounts a ON a.id = r.account_id
            WHERE r.created_at > ${since} AND a.domain = (SELECT domain FROM accounts WHERE id = ${sender})
            OFFSET ${flagsPerDayMax - 1} LIMIT 1`,
          (rows) => rows.length > 0
        )

      const file = traced("Flags.file")(function*(sender: AccountId, flag: NewFlag) {
        const now = yield* Clock.currentTimeMillis
        if (yield* isEnough(sender, new Date(now - 86_400_000))) return undefined
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
