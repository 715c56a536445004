import { Context, Effect, Layer, PubSub, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"

/** Accounts that wait to be woken at most; beyond it the agenda finds what the oldest of them have to do. */
const wakesMax = 16_384

/** Accounts for whose actors a service has left rows: an intent, something that is due, a command. */
export class Wakes extends Context.Service<Wakes, {
  /** Has the account's actor look around once the running transaction is committed. May be lost. */
  readonly wake: (accountId: AccountId) => Effect.Effect<void>
  readonly wanted: Effect.Effect<PubSub.Subscription<AccountId>, never, Scope.Scope>
}>()("murmuration/services/intents/Wakes") {
  static readonly layer = Layer.effect(
    Wakes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* PubSub.sliding<AccountId>(wakesMax)
      return Wakes.of({
        wake: (accountId) => sql.afterCommit(Effect.asVoid(PubSub.publish(accounts, accountId))),
        wanted: PubSub.subscribe(accounts)
      })
    })
  )
}
