import { Context, Effect, Layer } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import { RemoteDomain } from "./DomainProtocol.ts"

/** Maximum hosts that are woken in one batch; interactive work runs in between. */
const wakeBatchMax = 16
/** Timeout of one batch, in milliseconds: nodes of some hosts' actors may have just gone down. */
const wakeBatchMillisMax = 1_000
/** Maximum hosts in the queue; the agenda finds any beyond it. */
const waitingMax = 100_000

/** Client of the actors of remote hosts. */
export class DomainActors extends Context.Service<DomainActors, {
  /**
   * Queues a wake-up for each of these hosts, and waits for none of them. Never fails: the agenda makes up for a lost
   * wake-up.
   */
  readonly wake: (hosts: ReadonlyArray<string>) => Effect.Effect<void>
}>()("murmuration/actors/domain/DomainActors") {
  static readonly layer = Layer.effect(
    DomainActors,
    Effect.gen(function*() {
      const clientOf = yield* RemoteDomain.client
      const scope = yield* Effect.scope
      // A host that gets many posts at once is woken once.
      const waiting = new Set<string>()
      let isTelling = false

      /** Returns whether a host waits; if not, ends the work in the same step, so that no later host is missed. */
      const continues = () => {
        isTelling = waiting.size > 0
        return isTelling
      }
      const wakeQueued = Effect.gen(function*() {
        while (continues()) {
          const some: Array<string> = []
          for (const host of waiting) {
            waiting.delete(host)
            if (some.push(host) === wakeBatchMax) break
          }
          yield* Effect.forEach(some, (host) => Effect.ignore(clientOf(host).Wake(undefined, { discard: true })), {
            discard: true,
            concurrency: "unbounded"
          }).pipe(Effect.timeoutOption(wakeBatchMillisMax))
          yield* Effect.yieldNow
        }
      }).pipe(Effect.onError(() => Effect.sync(() => isTelling = false)))

      return DomainActors.of({
        wake: traced("DomainActors.wake")((hosts: ReadonlyArray<string>) =>
          Effect.suspend(() => {
            for (const host of hosts) if (waiting.size < waitingMax) waiting.add(host)
            if (isTelling || waiting.size === 0) return Effect.void
            isTelling = true
            return Effect.asVoid(Effect.forkIn(wakeQueued, scope))
          })
        )
      })
    })
  )
}
