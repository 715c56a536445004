import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Visibility } from "../statuses/Visibility.ts"

const HeldPost = Schema.Struct({
  statusId: Schema.BigInt,
  accountId: AccountId,
  ruleId: Schema.NullOr(Schema.BigInt),
  ruleName: Schema.NullOr(Schema.String),
  /** Visibility of the post after its approval. */
  visibility: Visibility,
  createdAt: Timestamptz
})
/** A post that awaits review. */
export type HeldPost = typeof HeldPost.Type
const heldRows = rowsOf(HeldPost)

/** Posts held by spam rules, for reviewers. The actors of their authors approve and reject them. */
export class HeldPosts extends Context.Service<HeldPosts, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<HeldPost>>
  readonly find: (statusId: bigint) => Effect.Effect<HeldPost, RecordNotFound>
  /** Number of held posts, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
}>()("murmuration/services/spam/HeldPosts") {
  static readonly layer = Layer.effect(
    HeldPosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const held = sql`SELECT h.status_id, h.account_id, h.rule_id, r.name AS rule_name, h.visibility, h.created_at
        FROM held_posts h LEFT JOIN spam_rules r ON r.id = h.rule_id`
      return HeldPosts.of({
        page: traced("HeldPosts.page")((page) => {
          const { tail, where } = clauses(sql, "h.status_id", page)
          return Effect.map(heldRows(sql`${held} WHERE ${where} ${tail}`), (rows) => newestFirst(page, rows))
        }, Effect.orDie),
        find: traced("HeldPosts.find")(function*(statusId) {
          const [post] = yield* Effect.orDie(heldRows(sql`${held} WHERE h.status_id = ${statusId}`))
          return post ?? (yield* new RecordNotFound())
        }),
        total: boundedCount(sql)(sql`SELECT FROM held_posts`)
      })
    })
  )
}
