import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { defaultPolicy, NotificationPolicy } from "../notifications/NotificationPolicy.ts"
import { traced } from "../runtime/Traced.ts"
import { countsOf, NotificationRequests, type RequestCounts } from "./NotificationRequests.ts"

const policyRows = rowsOf(NotificationPolicy)

/** Notification policy of an account, and its filtered notifications. */
export interface NotificationSettings {
  readonly policy: NotificationPolicy
  readonly waiting: RequestCounts
}

/** Notification policies of accounts; `NotificationPolicy.ts` has the rules. */
export class NotificationPolicies extends Context.Service<NotificationPolicies, {
  readonly of: (owner: AccountId) => Effect.Effect<NotificationSettings>
  /** Replaces the policy by the result of `change`; affects later notifications only. */
  readonly change: (
    owner: AccountId,
    change: (before: NotificationPolicy) => NotificationPolicy
  ) => Effect.Effect<NotificationSettings>
}>()("murmuration/services/feeds/NotificationPolicies") {
  static readonly layerNoDeps = Layer.effect(
    NotificationPolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const requests = yield* NotificationRequests
      const columns = sql.literal(
        "not_following, not_followers, new_accounts, private_mentions, limited_accounts, bots, new_conversations"
      )
      const find = (owner: AccountId) =>
        Effect.map(
          policyRows(sql`SELECT ${columns} FROM notification_policies WHERE account_id = ${owner}`),
          ([row]) => row ?? defaultPolicy
        )
      const settings = Effect.fnUntraced(function*(owner: AccountId, policy: NotificationPolicy) {
        return { policy, waiting: countsOf(yield* requests.newest(owner)) }
      })

      return NotificationPolicies.of({
        of: traced("NotificationPolicies.of")(function*(owner) {
          return yield* settings(owner, yield* Effect.orDie(find(owner)))
        }),
        change: traced("NotificationPolicies.change")(function*(owner, change) {
          const policy = yield* sql`SELECT FROM users WHERE account_id = ${owner} FOR NO KEY UPDATE`.pipe(
            Effect.andThen(Effect.map(find(owner), change)),
            Effect.tap((after) =>
              sql`INSERT INTO notification_policies ${sql.insert({ ...after, accountId: owner })}
                ON CONFLICT (account_id) DO UPDATE SET ${
                sql.csv(
                  Struct.keys(after).map((subject) => sql`${sql(subject)} = EXCLUDED.${sql(subject)}`)
                )
              }`
            ),
            transaction(sql),
            Effect.orDie
          )
          return yield* settings(owner, policy)
        })
      })
    })
  )
  static readonly layer = NotificationPolicies.layerNoDeps.pipe(Layer.provide(NotificationRequests.layer))
}
