import { Context, Effect, Layer, PubSub, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"

/** Maximum queued wake-ups; beyond it the oldest are dropped, and the agenda finds their accounts. */
const wakesMax = 16_384

/** Wake-ups of accounts whose actors have new rows to process: an intent, due work or a command. */
export class Wakes extends Context.Service<Wakes, {
  /** Wakes the account's actor after the current transaction commits. May be lost. */
  readonly wake: (accountId: AccountId) => Effect.Effect<void>
  readonly requests: Effect.Effect<PubSub.Subscription<AccountId>, never, Scope.Scope>
}>()("murmuration/services/intents/Wakes") {
  static readonly layer = Layer.effect(
    Wakes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* PubSub.sliding<AccountId>(wakesMax)
      return Wakes.of({
        wake: (accountId) => sql.afterCommit(Effect.asVoid(PubSub.publish(accounts, accountId))),
        requests: PubSub.subscribe(accounts)
      })
    })
  )
}
