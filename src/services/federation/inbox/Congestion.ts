import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { boundedMap } from "../../runtime/BoundedMap.ts"
import { traced } from "../../runtime/Traced.ts"
import { hashedKey } from "../../secrets/HashedKey.ts"

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))
const domainRows = rowsOf(Schema.Struct({ domain: Schema.String }))

/** Maximum waiting activities: in total, and per server. */
export const waitingMax = 50_000
export const waitingPerDomainMax = 10_000
/** Waiting activities from which servers without local followers are refused, to leave room for others. */
export const waitingOfUnfollowedMax = waitingMax / 2
/** Lifetime of the cached fact that a server is followed or not, in milliseconds, and maximum servers in the cache. */
const followedMillis = 60_000
const followedMax = 10_000
/** Lifetime of the last count, in milliseconds. */
const countMillisMax = 1_000

interface Counted {
  readonly at: number
  readonly all: number
  readonly full: ReadonlySet<string>
}

/** Load of the inbox: more activities are accepted only while they can be processed in time. */
export class Congestion extends Context.Service<Congestion, {
  /** Returns true if nothing more is accepted, from any server or from this one (the domain of its handles). */
  readonly isFull: (domain?: string) => Effect.Effect<boolean>
}>()("murmuration/services/federation/inbox/Congestion") {
  static readonly layer = Layer.effect(
    Congestion,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      let last: Counted | undefined
      let isCounting = false
      const followed = boundedMap<string, { readonly at: number; readonly followed: boolean }>(followedMax)

      /**
       * Returns true if a local account follows one on the server. Takes at most one query a minute per server, under
       * load only.
       */
      const isFollowed = Effect.fnUntraced(function*(domain: string, now: number) {
        const key = hashedKey(domain)
        const known = followed.get(key)
        if (known !== undefined && now - known.at < followedMillis && now >= known.at) return known.followed
        const rows = yield* sql`SELECT FROM accounts a JOIN follows f ON f.target_account_id = a.id AND NOT f.remote
          WHERE a.domain IS NOT NULL AND domain_key(a.domain) COLLATE "C" = domain_key(${domain}) LIMIT 1`
        followed.set(key, { at: now, followed: rows.length > 0 })
        return rows.length > 0
      })

      const count = Effect.fnUntraced(function*(now: number) {
        const [row] = yield* countRows(sql`SELECT count(*)::int AS count FROM (
          SELECT FROM inbound_activities WHERE outcome IS NULL LIMIT ${rowsMax(sql, waitingMax)}) w`)
        const all = row?.count ?? 0
        // While the total is below a server's maximum, no server can exceed it.
        const full = all < waitingPerDomainMax ? [] : yield* domainRows(sql`
          SELECT a.domain FROM inbound_activities i JOIN accounts a ON a.id = i.account_id
          WHERE i.outcome IS NULL GROUP BY a.domain HAVING count(*) >= ${waitingPerDomainMax}`)
        return { at: now, all, full: new Set(full.map(({ domain }) => domain)) }
      })

      return Congestion.of({
        isFull: traced("Congestion.isFull")(function*(domain?: string) {
          const now = yield* Clock.currentTimeMillis
          const stale = last === undefined || now - last.at >= countMillisMax || now < last.at
          // During a count, other callers use the previous result.
          if (stale && !isCounting) {
            isCounting = true
            last = yield* Effect.ensuring(count(now), Effect.sync(() => isCounting = false))
          }
          const { all, full } = last ?? { all: 0, full: new Set() }
          if (all >= waitingMax) return true
          if (domain === undefined) return false
          return full.has(domain) || (all >= waitingOfUnfollowedMax && !(yield* isFollowed(domain, now)))
        }, Effect.orDie)
      })
    })
  )
}
