import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Changes } from "../../caching/Changes.ts"
import { single } from "../../caching/Single.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { HostPolicy } from "../../outbound/HostPolicy.ts"
import { traced } from "../../runtime/Traced.ts"
import { hostName } from "./DomainAccounts.ts"
import { DomainBlock, type DomainLists, type DomainPolicy, policyOf } from "./DomainPolicy.ts"

/** Maximum rules of each kind in memory. */
export const domainRulesMax = 200_000
/** Lifetime of cached rules, while broadcasts arrive and while they do not (milliseconds). */
const rulesMillisMax = 30_000
const rulesAloneMillisMax = 1_000

const blockRows = rowsOf(DomainBlock)
const domainRows = rowsOf(Schema.Struct({ domain: Schema.String }))

/** The operator's rules about other servers, in memory; a change is visible within a second. */
export class DomainPolicies extends Context.Service<DomainPolicies, {
  readonly current: Effect.Effect<DomainLists>
  /** Reads the rules from the database, in the current transaction. */
  readonly stored: Effect.Effect<DomainLists, SqlError>
  readonly of: (host: string) => Effect.Effect<DomainPolicy>
  /**
   * Returns true if the server accepts data from this host, and sends it requests and deliveries. Deliveries and
   * requests check this before they are sent.
   */
  readonly isAllowed: (host: string) => Effect.Effect<boolean>
}>()("murmuration/services/federation/domains/DomainPolicies") {
  static readonly layer = Layer.effect(
    DomainPolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { limitedFederation: limited } = yield* ServerConfig

      const stored = Effect.gen(function*() {
        const most = rowsMax(sql, domainRulesMax)
        const blocks = yield* blockRows(sql`
          SELECT domain, severity, reject_media, reject_reports FROM domain_blocks ORDER BY id LIMIT ${most}`)
        const allows = limited
          ? yield* domainRows(sql`SELECT domain FROM domain_allows ORDER BY id LIMIT ${most}`)
          : []
        return {
          blocks: new Map(blocks.map((block) => [block.domain, block])),
          allows: new Set(allows.map(({ domain }) => domain)),
          limited
        }
      }).pipe(Effect.withSpan("DomainPolicies.stored"))

      const current = yield* single(
        { kinds: ["domains"], millisMax: rulesMillisMax, aloneMillisMax: rulesAloneMillisMax },
        Effect.orDie(stored)
      )

      const of = (host: string) => Effect.map(current, (lists) => policyOf(lists, hostName(host)))
      return DomainPolicies.of({
        current,
        stored,
        of,
        isAllowed: traced("DomainPolicies.isAllowed")((host: string) => Effect.map(of(host), ({ allowed }) => allowed))
      })
    })
  ).pipe(Layer.provide(Changes.layer))

  /** Makes outgoing requests obey the rules. */
  static readonly layerHostPolicy = Layer.effect(
    HostPolicy,
    Effect.map(DomainPolicies, ({ of }) =>
      HostPolicy.of({
        isOpen: (host, purpose) =>
          Effect.map(of(host), ({ allowed, severity }) => purpose === "document" ? allowed : severity !== "suspend")
      }))
  ).pipe(Layer.provide(DomainPolicies.layer))
}
