import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import type { AccountId } from "../database/Ids.ts"
import { traced } from "../runtime/Traced.ts"
import type { Filter } from "./Filter.ts"
import { type FilterMatcher, filterMatcher } from "./FilterMatcher.ts"
import { filtersWhere } from "./FilterRows.ts"

/** Maximum bytes of cached matchers. */
const matcherCacheBytesMax = 64 * 1024 * 1024
/** Bytes of a cache entry without filters, and of a matcher's cached verdicts. */
const [noFiltersBytes, verdictsBytes] = [200, 16_384]
/** Maximum age of cached filters while the bus is connected, in milliseconds. */
const matcherMillisMax = 120_000

/** Active filters of accounts, as matchers that are cached until a change on any node. */
export class ActiveFilters extends Context.Service<ActiveFilters, {
  /**
   * Returns the matchers of accounts that have filters, by one query at most. A matcher is the same object until a
   * filter changes.
   */
  readonly of: (accounts: ReadonlyArray<AccountId>) => Effect.Effect<ReadonlyMap<bigint, FilterMatcher>>
  /** Returns the matcher of an account; undefined without filters. */
  readonly find: (account: AccountId) => Effect.Effect<FilterMatcher | undefined>
}>()("murmuration/services/filters/ActiveFilters") {
  static readonly layer = Layer.effect(
    ActiveFilters,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cache = yield* Cache.make<bigint, FilterMatcher | "no filters">({
        rows: (_, accountId) => [["filters", accountId]],
        max: {
          bytes: matcherCacheBytesMax,
          bytesOf: (matcher) => matcher === "no filters" ? noFiltersBytes : matcher.bytes + verdictsBytes
        },
        millisMax: matcherMillisMax
      })

      const load = Effect.fnUntraced(function*(missing: ReadonlyArray<bigint>) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* filtersWhere(
          sql,
          sql`f.account_id = ANY (${[
            ...new Set(missing)
          ]}::bigint[]) AND (f.expires_at IS NULL OR f.expires_at > ${now})`
        )
        const filters = new Map<bigint, Array<Filter>>()
        for (const row of rows) {
          const others = filters.get(row.accountId)
          if (others === undefined) filters.set(row.accountId, [row])
          else others.push(row)
        }
        return new Map(missing.map((id) => {
          const own = filters.get(id)
          return [id, own === undefined ? "no filters" as const : filterMatcher(own)]
        }))
      }, Effect.orDie)

      const of = traced("ActiveFilters.of")(function*(accounts: ReadonlyArray<AccountId>) {
        const found = new Map<bigint, FilterMatcher>()
        for (const [id, matcher] of yield* cache.getAll(accounts, load)) {
          if (matcher !== "no filters") found.set(id, matcher)
        }
        return found
      })
      const find = (account: AccountId) =>
        Effect.map(
          cache.get(account, Effect.suspend(() => Effect.map(load([account]), (found) => found.get(account)))),
          (matcher) => matcher === "no filters" ? undefined : matcher
        )
      return ActiveFilters.of({ of, find })
    })
  ).pipe(Layer.provide(Changes.layer))
}
