import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { transaction } from "../../database/Transactions.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { feedsOf } from "../../feeds/FeedKeys.ts"
import { Feeds } from "../../feeds/Feeds.ts"
import { NotificationWriter } from "../../feeds/NotificationWriter.ts"
import { apply, hostsOf, nextAccounts } from "./DomainAccounts.ts"
import { DomainPolicies } from "./DomainPolicies.ts"
import { policyOfAll } from "./DomainPolicy.ts"
import * as DomainTasks from "./DomainTasks.ts"
import { Severances } from "./Severances.ts"

/** Maximum accounts of a domain that one transaction updates. */
const domainSliceRowsMax = 500

/**
 * Applies domain rules to accounts. Accounts of suspended domains are suspended and lose their follows; those of
 * silenced domains are silenced. A lifted rule's effects are reverted. Each step is one transaction and is idempotent.
 */
export class DomainEnforcement extends Context.Service<DomainEnforcement, {
  /** Runs one step of the oldest task; false if there is no task or another worker holds it. */
  readonly step: Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/domains/DomainEnforcement") {
  static readonly layerNoDeps = Layer.effect(
    DomainEnforcement,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const feeds = yield* Feeds
      const notifications = yield* NotificationWriter
      const policies = yield* DomainPolicies
      const severances = yield* Severances

      const dropFeeds = Effect.fnUntraced(function*(losers: ReadonlyArray<bigint>) {
        const dropped = yield* feedsOf(sql, losers)
        yield* sql.afterCommit(feeds.drop(dropped))
      })

      /**
       * Processes a slice of the domain's accounts. The cursor advances only after all follows of suspended accounts
       * are removed.
       */
      const slice = Effect.fnUntraced(function*(task: DomainTasks.DomainTask) {
        const rows = yield* nextAccounts(sql, task, domainSliceRowsMax)
        const last = rows.at(-1)
        if (last === undefined) return yield* DomainTasks.advance(sql, task, task.phase + 1, "", 0n)
        const now = new Date(yield* Clock.currentTimeMillis)
        const known = yield* policies.stored
        const accounts = rows.map((row) => ({ id: row.id, policy: policyOfAll(known, hostsOf(row)) }))
        yield* apply({ sql, tracked }, accounts, now)
        const { all, losers } = yield* severances.sever(
          { id: task.causeId, type: "domain_block", targetName: task.domain },
          accounts.filter(({ policy }) => !policy.allowed).map(({ id }) => id)
        )
        yield* dropFeeds(losers)
        if (all) yield* DomainTasks.advance(sql, task, task.phase, last.key, last.id)
      })

      const tell = Effect.fnUntraced(function*(task: DomainTasks.DomainTask) {
        const { events, last } = yield* severances.of(task.causeId, task.cursorId)
        yield* notifications.notifyOwners("severed_relationships", events)
        if (last !== undefined) return yield* DomainTasks.advance(sql, task, task.phase, "", last)
        // Posts may now show more or fewer files.
        yield* tracked("domains")(DomainTasks.complete(sql, task))
      })

      return DomainEnforcement.of({
        step: transaction(sql)(Effect.gen(function*() {
          const [task] = yield* DomainTasks.claim(sql)
          if (task === undefined) return false
          yield* task.phase < 2 ? slice(task) : tell(task)
          return true
        })).pipe(Effect.withSpan("DomainEnforcement.step"))
      })
    })
  )
  static readonly layer = DomainEnforcement.layerNoDeps.pipe(Layer.provide([DomainPolicies.layer, Severances.layer]))
}
