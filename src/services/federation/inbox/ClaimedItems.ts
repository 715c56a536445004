import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { collectionItemsMax } from "../../collections/Collection.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"

const ClaimedItem = Schema.Struct({
  id: Schema.BigInt,
  /** Ids of the collection, its owner, the account in it, and that account's claimed consent. */
  collection: Schema.String,
  owner: Schema.String,
  account: Schema.String,
  authorization: Schema.String
})
type ClaimedItem = typeof ClaimedItem.Type
const claimedRows = rowsOf(ClaimedItem)

/** Items of remote collections with unverified consent; they are shown once the consent is verified. */
export class ClaimedItems extends Context.Service<ClaimedItems, {
  /** Returns a collection's first unverified items, up to the maximum for local collections. */
  readonly waiting: (collectionId: bigint) => Effect.Effect<ReadonlyArray<ClaimedItem>, SqlError>
  /** Accepts the item: the account, known here now, consents. */
  readonly confirm: (item: ClaimedItem, accountId: bigint) => Effect.Effect<void, SqlError>
  readonly refuse: (item: ClaimedItem) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/inbox/ClaimedItems") {
  static readonly layer = Layer.effect(
    ClaimedItems,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const refuse = traced("ClaimedItems.refuse")(({ id }: ClaimedItem) =>
        Effect.asVoid(sql`DELETE FROM collection_items WHERE id = ${id} AND state = 'pending' AND account_id IS NULL`)
      )
      const confirm = traced("ClaimedItems.confirm")(function*(item: ClaimedItem, accountId: bigint) {
        const at = new Date(yield* Clock.currentTimeMillis)
        const accepted = yield* idRows(sql`UPDATE collection_items i SET state = 'accepted', account_id = ${accountId},
            account_uri = NULL, updated_at = ${at}
          WHERE i.id = ${item.id} AND i.state = 'pending' AND i.approval_uri = ${item.authorization} AND NOT EXISTS (
            SELECT FROM collection_items o WHERE o.collection_id = i.collection_id AND o.account_id = ${accountId})
          RETURNING i.id`)
        // The collection already has the account.
        if (accepted.length === 0) yield* refuse(item)
      })

      return ClaimedItems.of({
        confirm,
        refuse,
        waiting: traced("ClaimedItems.waiting")((collectionId) =>
          claimedRows(sql`SELECT i.id, c.uri AS collection, a.uri AS owner, i.account_uri AS account,
              i.approval_uri AS "authorization"
            FROM collection_items i JOIN collections c ON c.id = i.collection_id AND c.uri IS NOT NULL
            JOIN accounts a ON a.id = c.account_id AND a.uri IS NOT NULL AND a.suspended_at IS NULL
            WHERE i.collection_id = ${collectionId} AND i.account_uri IS NOT NULL AND i.approval_uri IS NOT NULL
              AND i.state = 'pending' ORDER BY i.position, i.id LIMIT ${sql.literal(String(collectionItemsMax))}`)
        )
      })
    })
  )
}
