import { Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { blocks, isSeparate } from "../../HiddenAccounts.ts"
import type { AccountId } from "../../Ids.ts"
import { accountIdRows } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import { asForeign, asList, type Foreign, idOf, idsOf, typeOf } from "../documents/Reading.ts"
import { hostsOf } from "../domains/DomainAccounts.ts"
import { DomainPolicies } from "../domains/DomainPolicies.ts"
import { policyOfAll } from "../domains/DomainPolicy.ts"
import { KnownUris } from "../inbox/KnownUris.ts"
import type { ActivityFacts } from "./InboundPolicy.ts"
import { judge, type Judgement } from "./PolicyChain.ts"

/** The sender of an activity. */
interface JudgedSender {
  readonly accountId: AccountId
  readonly uri: string
  readonly domain: string
  readonly suspended: boolean
}

const dropped = Metric.counter("murmuration_inbound_dropped", {
  description: "Activities of other servers that a rule dropped, by its reason",
  incremental: true
})
const nobody: ReadonlySet<string> = new Set()

/** Judges what other servers send: at the door by what is known in memory, and before it has its effect by everything. */
export class InboundPolicies extends Context.Service<InboundPolicies, {
  /** Right after the sender is verified and before anything of the activity is looked at. What does not pass is counted. */
  readonly atDoor: (sender: JudgedSender, activity: Foreign) => Effect.Effect<Judgement>
  /** In the transaction of the sender's actor; `hasBlocks` where there are blocks at all between it, or its domain, and somebody here. */
  readonly inside: (
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

      const factsOf = (sender: JudgedSender, more: Pick<ActivityFacts, "blockers" | "blockedByAuthor">) =>
        Effect.map(policies.current, (known): ActivityFacts => ({
          policy: policyOfAll(known, hostsOf(sender)),
          suspended: sender.suspended,
          ...more
        }))
      const counted = (judgement: Judgement): Effect.Effect<Judgement> =>
        judgement.passes
          ? Effect.succeed(judgement)
          : Effect.as(Metric.update(Metric.withAttributes(dropped, { reason: judgement.reason }), 1), judgement)

      /** Accounts that an object is for or about. */
      const namedBy = (object: Foreign | undefined) =>
        object === undefined ? [] : [
          ...new Set([
            ...idsOf(object["to"]),
            ...idsOf(object["cc"]),
            ...asList(object["tag"]).flatMap((tag) => idOf(asForeign(tag)?.["href"]) ?? [])
          ])
        ]

      const blockersOf = Effect.fnUntraced(function*(sender: JudgedSender, object: Foreign | undefined) {
        const named = yield* knownUris.accounts(namedBy(object))
        if (named.size === 0) return nobody
        const ids = [...named.values()]
        const rows = yield* accountIdRows(sql`
          SELECT named.account_id FROM unnest(${ids}::bigint[]) AS named (account_id)
          WHERE ${isSeparate(sql, sql`named.account_id`, sql`${sender.accountId}::bigint`)}`)
        const blocking = new Set(rows.map(({ accountId }) => accountId))
        return new Set([...named].flatMap(([uri, id]) => blocking.has(id) ? [uri] : []))
      })

      const isBlockedByAuthor = Effect.fnUntraced(function*(sender: JudgedSender, activity: Foreign) {
        if (typeOf(activity, "Like", "EmojiReact", "Announce") === undefined) return false
        const statusId = yield* knownUris.status(idOf(activity["object"]) ?? "")
        if (statusId === undefined) return false
        const rows = yield* sql`SELECT FROM statuses s
          WHERE s.id = ${statusId} AND ${blocks(sql, sql`s.account_id`, sql`${sender.accountId}::bigint`)}`
        return rows.length > 0
      })

      return InboundPolicies.of({
        atDoor: traced("InboundPolicies.atDoor")(function*(sender, activity) {
          return yield* counted(judge(activity, yield* factsOf(sender, { blockers: nobody, blockedByAuthor: false })))
        }),
        inside: traced("InboundPolicies.inside")(function*(sender, activity) {
          const more = sender.hasBlocks
            ? {
              blockers: yield* blockersOf(sender, asForeign(activity["object"])),
              blockedByAuthor: yield* isBlockedByAuthor(sender, activity)
            }
            : { blockers: nobody, blockedByAuthor: false }
          return yield* counted(judge(activity, yield* factsOf(sender, more)))
        })
      })
    })
  )
  static readonly layer = InboundPolicies.layerNoDeps.pipe(Layer.provide([DomainPolicies.layer, KnownUris.layer]))
}
