import { Clock, Context, Effect, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../Broadcast.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { Hosts } from "../../outbound/Hosts.ts"
import { rowsMax } from "../../Paging.ts"
import { traced } from "../../Traced.ts"
import { hostName } from "./DomainAccounts.ts"
import { type DomainBlock, type Rules, type Standing, standingOf } from "./Rules.ts"

/** Rules of each kind that are known at once. */
export const domainRulesMax = 200_000
/** How long rules are believed while this node hears of changes, and while it does not (milliseconds). */
const rulesMillisMax = 30_000
const rulesAloneMillisMax = 1_000

/** The operator's rules about other servers, in memory; a change is known within a second. */
export class DomainRules extends Context.Service<DomainRules, {
  readonly current: Effect.Effect<Rules>
  /** The same from the database, in the running transaction. */
  readonly stored: Effect.Effect<Rules, SqlError>
  readonly of: (host: string) => Effect.Effect<Standing>
  /**
   * Whether anything is taken from this host, asked of it or sent to it. The one question for whoever speaks to others:
   * deliveries ask it before they send.
   */
  readonly isAllowed: (host: string) => Effect.Effect<boolean>
}>()("murmuration/services/federation/domains/DomainRules") {
  static readonly layer = Layer.effect(
    DomainRules,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const { limitedFederation: limited } = yield* ServerConfig
      let kept: { readonly rules: Rules; readonly at: number } | undefined
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
      }).pipe(Effect.withSpan("DomainRules.stored"))

      const current = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const most = (yield* broadcast.connected) ? rulesMillisMax : rulesAloneMillisMax
        if (kept !== undefined && now - kept.at < most && now >= kept.at) return kept.rules
        const before = changes
        const rules = yield* Effect.orDie(stored)
        // What was read before a change was heard may be from before it.
        if (changes === before) kept = { rules, at: now }
        return rules
      })

      const of = (host: string) => Effect.map(current, (rules) => standingOf(rules, hostName(host)))
      return DomainRules.of({
        current,
        stored,
        of,
        isAllowed: traced("DomainRules.isAllowed")((host: string) => Effect.map(of(host), ({ allowed }) => allowed))
      })
    })
  )

  /** The rules as requests of the server obey them. */
  static readonly layerHosts = Layer.effect(
    Hosts,
    Effect.map(DomainRules, ({ of }) =>
      Hosts.of({
        isOpen: (host, what) =>
          Effect.map(of(host), ({ allowed, severity }) => what === "file" ? severity !== "suspend" : allowed)
      }))
  ).pipe(Layer.provide(DomainRules.layer))
}
