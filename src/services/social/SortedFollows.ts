import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"

/** Time without a post after which an account is dormant, in milliseconds, as in Mastodon. */
const dormantMillis = 30 * 86_400_000
/** Maximum rows that a page may skip, and maximum bytes of a search text. */
const skippedMax = 10_000
const searchBytesMax = 200

export const followSides = ["following", "followers", "mutuals"] as const
export const followOrders = ["newest", "oldest", "active"] as const
export const followStates = ["all", "dormant", "moved"] as const

/** Selection and order of follows. */
export interface FollowSelection {
  readonly side: typeof followSides[number]
  readonly order: typeof followOrders[number]
  readonly state: typeof followStates[number]
  /** Part of a name or handle; empty for all. */
  readonly search: string
}

const foundRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt }))

/** Follows of an account for their owner, who sorts and searches them. */
export class SortedFollows extends Context.Service<SortedFollows, {
  /** Returns accounts after the first `skipped`, which is cut to `skippedMax`. */
  readonly page: (
    owner: AccountId,
    selection: FollowSelection,
    skipped: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/social/SortedFollows") {
  static readonly layer = Layer.effect(
    SortedFollows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const orders = {
        newest: "f.id DESC",
        oldest: "f.id",
        active: "c.last_status_at DESC NULLS LAST, f.id DESC"
      }

      const page = traced("SortedFollows.page")(function*(
        owner: AccountId,
        { order, search, side, state }: FollowSelection,
        skipped: number,
        limit: number
      ) {
        const now = yield* Clock.currentTimeMillis
        const [own, other] = side === "followers"
          ? ["target_account_id", "account_id"]
          : ["account_id", "target_account_id"]
        const text = bounded(search.replaceAll("\0", "").trim().replace(/^@/, ""), searchBytesMax).toLowerCase()
        const pattern = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`
        const conditions = [
          sql`f.${sql.literal(own)} = ${owner}`,
          sql`NOT ${isSuspended(sql, sql`a.id`)}`,
          ...(side === "mutuals"
            ? [sql`EXISTS (SELECT FROM follows b WHERE b.account_id = a.id AND b.target_account_id = ${owner})`]
            : []),
          ...(state === "moved" ? [sql`a.moved_to_id IS NOT NULL`] : []),
          ...(state === "dormant"
            ? [sql`coalesce(c.last_status_at, 'epoch') < ${new Date(now - dormantMillis)}`]
            : []),
          ...(text === "" ? [] : [
            sql`(lower(a.username) || '@' || coalesce(a.domain, '') LIKE ${pattern} OR lower(a.display_name) LIKE ${pattern})`
          ])
        ]
        const found = yield* foundRows(sql`
          SELECT a.id AS account_id FROM follows f JOIN accounts a ON a.id = f.${sql.literal(other)}
          LEFT JOIN account_stats c ON c.account_id = a.id
          WHERE ${sql.and(conditions)} ORDER BY ${sql.literal(orders[order])}
          LIMIT ${rowsMax(sql, limit)} OFFSET ${rowsMax(sql, Math.min(skipped, skippedMax))}`)
        return found.map(({ accountId }) => accountId)
      }, Effect.orDie)
      return SortedFollows.of({ page })
    })
  )
}
