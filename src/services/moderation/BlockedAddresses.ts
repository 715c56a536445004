import { Clock, Context, Effect, Layer, Queue, Schedule, Schema, type Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Changes } from "../caching/Changes.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { AddressRules, ipBlockSeverities, type IpBlockSeverity } from "./AddressRules.ts"

/** Maximum IP blocks in memory of a process. */
export const ipBlocksMax = 200_000
/** Maximum age of the cached blocks, while this node receives changes and while it does not, in milliseconds. */
const knownMillisMax = 30_000
const disconnectedMillisMax = 1_000

const blockRows = rowsOf(
  Schema.Struct({
    network: Schema.String,
    severity: Schema.Literals(ipBlockSeverities),
    expiresAt: Schema.NullOr(Timestamptz)
  })
)

/**
 * IP blocks in memory, for a check on every request. A lookup needs no fiber and no query, and is free if there are no
 * blocks. Every node reloads the blocks as soon as it receives a change.
 */
export class BlockedAddresses extends Context.Service<BlockedAddresses, {
  /** Returns the severity of the strictest block of an address at a time in milliseconds since 1970. */
  readonly find: (address: string, nowMillis: number) => IpBlockSeverity | undefined
  readonly isEmpty: () => boolean
  /** Reloads the blocks; called after each change, before the response. */
  readonly refresh: Effect.Effect<void, SqlError>
  /** Calls `listener` after each reload, until the scope closes. */
  readonly changed: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}>()("murmuration/services/moderation/BlockedAddresses") {
  static readonly layer = Layer.effect(
    BlockedAddresses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const changes = yield* Changes
      const reloads = yield* Queue.sliding<void>(1)
      const listeners = new Set<() => void>()
      let rules = new AddressRules([])
      let readAt = 0

      // Serialised: a stale read must not overwrite a newer one.
      const mutex = Semaphore.makeUnsafe(1)
      const refresh = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* blockRows(sql`SELECT ip::text AS network, severity, expires_at FROM ip_blocks
          WHERE expires_at IS NULL OR expires_at > ${new Date(now)} ORDER BY id LIMIT ${rowsMax(sql, ipBlocksMax)}`)
        rules = new AddressRules(
          rows.map(({ expiresAt, network, severity }) => ({
            network,
            severity,
            expiresAt: expiresAt?.getTime() ?? Infinity
          }))
        )
        readAt = now
        for (const listener of listeners) listener()
      }).pipe(mutex.withPermits(1), Effect.withSpan("BlockedAddresses.refresh"))

      const reloadOrLog = Effect.catchCause(
        refresh,
        (cause) => Effect.logWarning("IP blocks could not be reloaded", cause)
      )
      const whenOld = Effect.gen(function*() {
        const most = (yield* changes.connected) ? knownMillisMax : disconnectedMillisMax
        if ((yield* Clock.currentTimeMillis) - readAt >= most) yield* reloadOrLog
      })
      yield* changes.each("ip_blocks", () => Queue.offerUnsafe(reloads, undefined))
      yield* refresh
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(reloads), reloadOrLog)))
      yield* Effect.forkScoped(Effect.schedule(whenOld, Schedule.spaced("1 second")))

      return BlockedAddresses.of({
        find: (address, nowMillis) => rules.find(address, nowMillis),
        isEmpty: () => rules.isEmpty,
        refresh,
        changed: (listener) =>
          Effect.asVoid(Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener))
          ))
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
