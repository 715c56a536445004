import { Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { accountIdRows } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"
import { isBlockedEitherWay } from "../../visibility/HiddenAccounts.ts"
import type { Foreign } from "../documents/ForeignValues.ts"
import { hostsOf } from "../domains/DomainAccounts.ts"
import { DomainPolicies } from "../domains/DomainPolicies.ts"
import { policyOfAll } from "../domains/DomainPolicy.ts"
import { KnownUris } from "../inbox/KnownUris.ts"
import { referredTo } from "./BlockPolicies.ts"
import type { ActivityFacts } from "./InboundPolicy.ts"
import { judge, type Judgement } from "./PolicyChain.ts"

/** Sender of an activity. */
interface JudgedSender {
  readonly accountId: AccountId
  readonly uri: string
  readonly domain: string
  readonly suspended: boolean
}

const dropped = Metric.counter("murmuration_inbound_dropped_total", {
  description: "Activities of other servers dropped by a policy, by reason",
  incremental: true
})
const nobody: ReadonlySet<string> = new Set()

/**
 * Applies the policies to incoming activities: on arrival with facts in memory, and again with all facts before they
 * take effect.
 */
export class InboundPolicies extends Context.Service<InboundPolicies, {
  /** Runs after the sender is verified, before anything else in the activity is read. Counts dropped activities. */
  readonly atInbox: (sender: JudgedSender, activity: Foreign) => Effect.Effect<Judgement>
  /**
   * Runs in the transaction of the sender's actor; `hasBlocks` is true if any block exists between it, or its domain,
   * and a local account.
   */
  readonly inTransaction: (
    sender: JudgedSender & { readonly hasBlocks: boolean },
    activity: Foreign
  ) => Effect.Effect<Judgement, SqlError>
}>()("murmuration/services/federation/policies/InboundPolicies") {
  static readonly layerNoDeps = Layer.effect(
    InboundPolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const knownUris = yield* KnownUris
      const policies = yield* DomainPolicies

      const factsOf = (sender: JudgedSender, separated: ActivityFacts["separated"]) =>
        Effect.map(policies.current, (known): ActivityFacts => ({
          policy: policyOfAll(known, hostsOf(sender)),
          suspended: sender.suspended,
          separated
        }))
      const counted = (judgement: Judgement): Effect.Effect<Judgement> =>
        judgement.passes
          ? Effect.succeed(judgement)
          : Effect.as(Metric.update(Metric.withAttributes(dropped, { reason: judgement.reason }), 1), judgement)

      /** Returns the ids in the activity of accounts that a block separates from the sender, and of their posts. */
      const separatedFrom = Effect.fnUntraced(function*(sender: JudgedSender, activity: Foreign) {
        const named = referredTo(activity)
        if (named.length === 0) return nobody
        const known = [...yield* knownUris.accounts(named), ...yield* knownUris.localAuthors(named)]
        if (known.length === 0) return nobody
        const rows = yield* accountIdRows(sql`
          SELECT named.account_id FROM unnest(${known.map(([, id]) => id)}::bigint[]) AS named (account_id)
          WHERE ${isBlockedEitherWay(sql, sql`named.account_id`, sql`${sender.accountId}::bigint`)}`)
        const separated = new Set(rows.map(({ accountId }) => accountId))
        return new Set(known.flatMap(([uri, id]) => separated.has(id) ? [uri] : []))
      })

      return InboundPolicies.of({
        atInbox: traced("InboundPolicies.atInbox")(function*(sender, activity) {
          return yield* counted(judge(activity, yield* factsOf(sender, nobody)))
        }),
        inTransaction: traced("InboundPolicies.inTransaction")(function*(sender, activity) {
          const separated = sender.hasBlocks ? yield* separatedFrom(sender, activity) : nobody
          return yield* counted(judge(activity, yield* factsOf(sender, separated)))
        })
      })
    })
  )
  static readonly layer = InboundPolicies.layerNoDeps.pipe(Layer.provide([DomainPolicies.layer, KnownUris.layer]))
}
