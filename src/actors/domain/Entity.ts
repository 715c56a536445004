import { Effect, Layer, Scope } from "effect"
import { Entity, Sharding } from "effect/cluster"
import { lean } from "../../services/Lean.ts"
import * as DeliveryRound from "./DeliveryRound.ts"
import * as Fetching from "./Fetching.ts"
import * as HostState from "./HostState.ts"
import { domainMailboxMax, RemoteDomain } from "./Protocol.ts"

const actor = (round: Effect.Success<typeof DeliveryRound.make>, documents: Effect.Success<typeof Fetching.make>) =>
  RemoteDomain.toLayer(
    Effect.gen(function*() {
      const { entityId } = yield* Entity.CurrentAddress
      const state = HostState.begin(entityId)
      let running = false
      let rung = false

      const drain = Effect.gen(function*() {
        do {
          rung = false
          while (yield* round(state)) yield* Effect.yieldNow
        } while (rung)
      }).pipe(
        Effect.catchCause((cause) => Effect.logWarning("a host's deliveries must wait", cause)),
        Effect.ensuring(Effect.sync(() => {
          running = false
        }))
      )
      return RemoteDomain.of({
        Fetch: ({ payload }) => documents(payload),
        // Who began the work waits for it, so that the actor is not idle meanwhile.
        Wake: () =>
          Effect.suspend(() => {
            rung = true
            if (running) return Effect.void
            running = true
            return drain
          })
      })
    }),
    { mailboxCapacity: domainMailboxMax, concurrency: "unbounded", disableFatalDefects: true }
  )

/**
 * The actor of one other host: it alone sends there. Each delivery is a row. It is sent at least once while the host
 * takes it within the time of its tries. Those about one thing reach one inbox in the order of what happened; an end at
 * any point repeats what was under way: 8 requests at most, and 32 outcomes not written down. A host that fails costs
 * its own actor: fewer requests at once, a rest after ten failures in a row, nothing at all after seven days of them.
 * In memory it keeps a few numbers. It fetches documents of the host, each once for all who ask at that time; twice
 * while the host's shard changes hands.
 */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Effect.all([DeliveryRound.make, Fetching.make]), ([round, documents]) =>
    Effect.updateContext(
      Layer.build(actor(round, documents)),
      lean(Scope.Scope, Sharding.Sharding)
    ))
)
