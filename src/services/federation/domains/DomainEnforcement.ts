import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../Broadcast.ts"
import { Feeds } from "../../feeds/Feeds.ts"
import { AccountId } from "../../Ids.ts"
import { rowsMax } from "../../Paging.ts"
import { transaction } from "../../Transactions.ts"
import { apply, hostsOf, take } from "./DomainAccounts.ts"
import { DomainPolicies } from "./DomainPolicies.ts"
import { policyOfAll } from "./DomainPolicy.ts"
import { Severances } from "./Severances.ts"

/** Accounts of a domain that one transaction brings in line. */
const domainSliceRowsMax = 500

interface Task {
  readonly domain: string
  readonly causeId: bigint
  readonly phase: number
  readonly cursorKey: string
  readonly cursorId: bigint
}

/**
 * What the rules about domains mean for their accounts: those of suspended domains are suspended and lose their follows,
 * those of silenced ones are silenced; a rule that is lifted takes with it what it did. Each step is one transaction and
 * leaves things as a repetition would.
 */
export class DomainEnforcement extends Context.Service<DomainEnforcement, {
  /** One step of the oldest task; false where there is none, or somebody else is at it. */
  readonly step: Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/domains/DomainEnforcement") {
  static readonly layerNoDeps = Layer.effect(
    DomainEnforcement,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const feeds = yield* Feeds
      const policies = yield* DomainPolicies
      const severances = yield* Severances

      const advance = ({ domain }: Task, phase: number, key: string, id: bigint) =>
        sql`UPDATE domain_tasks SET phase = ${phase}, cursor_key = ${key}, cursor_id = ${id} WHERE domain = ${domain}`

      const changed = (accounts: ReadonlyArray<bigint>, losers: ReadonlyArray<bigint>) =>
        sql.afterCommit(Effect.all([
          feeds.drop(losers.map((id) => AccountId.make(id))),
          broadcast.publish({ _tag: "Changed", kind: "account", ids: [...accounts, ...losers] }),
          broadcast.publish({ _tag: "Changed", kind: "relations", ids: losers })
        ], { discard: true }))

      /** A slice of the domain's accounts. It is not left before the follows of those who are suspended are gone. */
      const slice = Effect.fnUntraced(function*(task: Task) {
        const rows = yield* take(sql, task, domainSliceRowsMax)
        const last = rows.at(-1)
        if (last === undefined) return yield* advance(task, task.phase + 1, "", 0n)
        const now = new Date(yield* Clock.currentTimeMillis)
        const known = yield* policies.stored
        const wanted = rows.map((row) => ({ id: row.id, policy: policyOfAll(known, hostsOf(row)) }))
        const differing = yield* apply(sql, wanted, now)
        const { all, losers } = yield* severances.sever(
          { id: task.causeId, type: "domain_block", targetName: task.domain },
          wanted.filter(({ policy }) => !policy.allowed).map(({ id }) => id)
        )
        yield* changed(differing, losers)
        if (all) yield* advance(task, task.phase, last.key, last.id)
      })

      const tell = Effect.fnUntraced(function*(task: Task) {
        const { last, told } = yield* severances.tell(task.causeId, task.cursorId)
        yield* sql.afterCommit(Effect.forEach(told, ({ accountId, id }) =>
          broadcast.publish({
            _tag: "NotificationCreated",
            accountId: AccountId.make(accountId),
            notificationId: id
          }), { discard: true }))
        if (last !== undefined) return yield* advance(task, task.phase, "", last)
        yield* sql`DELETE FROM domain_tasks WHERE domain = ${task.domain}`
        // Posts may show more or fewer files now.
        yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "domains", ids: [] }))
      })

      return DomainEnforcement.of({
        step: transaction(sql)(Effect.gen(function*() {
          const [task] = yield* sql<Task>`SELECT domain, cause_id, phase, cursor_key, cursor_id FROM domain_tasks
            ORDER BY created_at, domain LIMIT ${rowsMax(sql, 1)} FOR UPDATE SKIP LOCKED`
          if (task === undefined) return false
          yield* task.phase < 2 ? slice(task) : tell(task)
          return true
        })).pipe(Effect.withSpan("DomainEnforcement.step"))
      })
    })
  )
  static readonly layer = DomainEnforcement.layerNoDeps.pipe(Layer.provide([DomainPolicies.layer, Severances.layer]))
}
