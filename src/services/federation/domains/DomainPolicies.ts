import { Clock, Context, Effect, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../Broadcast.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { HostPolicy } from "../../outbound/HostPolicy.ts"
import { rowsMax } from "../../Paging.ts"
import { traced } from "../../Traced.ts"
import { hostName } from "./DomainAccounts.ts"
import { type DomainBlock, type DomainLists, type DomainPolicy, policyOf } from "./DomainPolicy.ts"

/** Rules of each kind that are known at once. */
export const domainRulesMax = 200_000
/** How long rules are believed while this node hears of changes, and while it does not (milliseconds). */
const rulesMillisMax = 30_000
const rulesAloneMillisMax = 1_000

/** The operator's rules about other servers, in memory; a change is known within a second. */
export class DomainPolicies extends Context.Service<DomainPolicies, {
  readonly current: Effect.Effect<DomainLists>
  /** The same from the database, in the running transaction. */
  readonly stored: Effect.Effect<DomainLists, SqlError>
  readonly of: (host: string) => Effect.Effect<DomainPolicy>
  /**
   * Whether the server takes anything from this host, asks it or sends to it. Deliveries and requests check it before
   * they leave.
   */
  readonly isAllowed: (host: string) => Effect.Effect<boolean>
}>()("murmuration/services/federation/domains/DomainPolicies") {
  static readonly layer = Layer.effect(
    DomainPolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const { limitedFederation: limited } = yield* ServerConfig
      let kept: { readonly lists: DomainLists; readonly at: number } | undefined
      let changes = 0

      const subscription = yield* broadcast.subscribe
      yield* PubSub.take(subscription).pipe(
        Effect.tap((message) =>
          Effect.sync(() => {
            if (message._tag !== "Changed" || message.kind !== "domains") return
            changes++
            kept = undefined
          })
        ),
        Effect.forever,
        Effect.forkScoped
      )

      const stored = Effect.gen(function*() {
        const most = rowsMax(sql, domainRulesMax)
        const blocks = yield* sql<DomainBlock>`
          SELECT domain, severity, reject_media, reject_reports FROM domain_blocks ORDER BY id LIMIT ${most}`
        const allows = limited
          ? yield* sql<{ domain: string }>`SELECT domain FROM domain_allows ORDER BY id LIMIT ${most}`
          : []
        return {
          blocks: new Map(blocks.map((block) => [block.domain, block])),
          allows: new Set(allows.map(({ domain }) => domain)),
          limited
        }
      }).pipe(Effect.withSpan("DomainPolicies.stored"))

      const current = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const most = (yield* broadcast.connected) ? rulesMillisMax : rulesAloneMillisMax
        if (kept !== undefined && now - kept.at < most && now >= kept.at) return kept.lists
        const before = changes
        const lists = yield* Effect.orDie(stored)
        // Lists that were read before a change was heard may be older than it.
        if (changes === before) kept = { lists, at: now }
        return lists
      })

      const of = (host: string) => Effect.map(current, (lists) => policyOf(lists, hostName(host)))
      return DomainPolicies.of({
        current,
        stored,
        of,
        isAllowed: traced("DomainPolicies.isAllowed")((host: string) => Effect.map(of(host), ({ allowed }) => allowed))
      })
    })
  )

  /** The rules as requests of the server obey them. */
  static readonly layerHostPolicy = Layer.effect(
    HostPolicy,
    Effect.map(DomainPolicies, ({ of }) =>
      HostPolicy.of({
        isOpen: (host, what) =>
          Effect.map(of(host), ({ allowed, severity }) => what === "file" ? severity !== "suspend" : allowed)
      }))
  ).pipe(Layer.provide(DomainPolicies.layer))
}
