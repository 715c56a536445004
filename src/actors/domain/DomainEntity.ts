import { Effect, Layer, Scope } from "effect"
import { Entity, Sharding } from "effect/cluster"
import { reduceContext } from "../../services/runtime/Lean.ts"
import * as DeliveryRound from "./DeliveryRound.ts"
import { domainMailboxMax, RemoteDomain } from "./DomainProtocol.ts"
import * as Fetching from "./Fetching.ts"
import * as HostState from "./HostState.ts"

const actor = (round: Effect.Success<typeof DeliveryRound.make>, documents: Effect.Success<typeof Fetching.make>) =>
  RemoteDomain.toLayer(
    Effect.gen(function*() {
      const { entityId } = yield* Entity.CurrentAddress
      const state = HostState.begin(entityId)
      let running = false
      let wakeRequested = false

      /** Returns whether there was a wake-up; if not, ends the work in the same step, so that no later one is lost. */
      const continues = () => {
        running = wakeRequested
        wakeRequested = false
        return running
      }
      const rounds = Effect.gen(function*() {
        while (yield* round(state)) yield* Effect.yieldNow
      }).pipe(
        Effect.catchCause((cause) => Effect.logWarning("deliveries to a host failed; they will be retried", cause))
      )
      const drain = Effect.gen(function*() {
        while (continues()) yield* rounds
      }).pipe(
        Effect.onError(() => Effect.sync(() => running = false))
      )
      return RemoteDomain.of({
        Fetch: ({ payload }) => documents(payload),
        // The first caller waits for the whole work, so that the actor is not idle in the meantime.
        Wake: () =>
          Effect.suspend(() => {
            wakeRequested = true
            if (running) return Effect.void
            running = true
            return drain
          })
      })
    }),
    { mailboxCapacity: domainMailboxMax, concurrency: "unbounded", disableFatalDefects: true }
  )

/**
 * The actor of one remote host, the only sender of requests to it. Each delivery is a row. It is sent at least once if
 * the host accepts it before the last retry. Deliveries about one object reach an inbox in order. A crash repeats 8
 * requests and 32 unwritten outcomes at most. A failing host slows only its own actor: fewer concurrent requests, a
 * pause after ten failures in a row, no requests after seven days of failures. The actor keeps a few numbers in memory.
 * It also fetches the host's documents, one fetch for all concurrent callers; two while the host's shard moves to
 * another node.
 */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Effect.all([DeliveryRound.make, Fetching.make]), ([round, documents]) =>
    Effect.updateContext(
      Layer.build(actor(round, documents)),
      reduceContext(Scope.Scope, Sharding.Sharding)
    ))
)
