import { Context, Effect, Layer } from "effect"
import { traced } from "../../services/Traced.ts"
import { RemoteDomain } from "./Protocol.ts"

/** Hosts that are told in one go; people come in between. */
const toldMax = 16
/** How long such a go may take, in milliseconds: the nodes of some of them may just be gone. */
const toldMillisMax = 1_000
/** Hosts that wait to be told; what is beyond it the agenda finds. */
const waitingMax = 100_000

/** The actors of other hosts, as callers see them. */
export class DomainActors extends Context.Service<DomainActors, {
  /**
   * Says that something waits for these hosts, which they hear of by and by; waits for none of them. Never fails; a lost
   * wake-up is made good by the agenda.
   */
  readonly wake: (hosts: ReadonlyArray<string>) => Effect.Effect<void>
}>()("murmuration/actors/domain/DomainActors") {
  static readonly layer = Layer.effect(
    DomainActors,
    Effect.gen(function*() {
      const clientOf = yield* RemoteDomain.client
      const scope = yield* Effect.scope
      // A host that many posts go to at once is told once.
      const waiting = new Set<string>()
      let telling = false

      const tell = Effect.gen(function*() {
        while (waiting.size > 0) {
          const some: Array<string> = []
          for (const host of waiting) {
            waiting.delete(host)
            if (some.push(host) === toldMax) break
          }
          yield* Effect.forEach(some, (host) => Effect.ignore(clientOf(host).Wake(undefined, { discard: true })), {
            discard: true,
            concurrency: "unbounded"
          }).pipe(Effect.timeoutOption(toldMillisMax))
          yield* Effect.yieldNow
        }
      }).pipe(Effect.ensuring(Effect.sync(() => {
        telling = false
      })))

      return DomainActors.of({
        wake: traced("DomainActors.wake")((hosts: ReadonlyArray<string>) =>
          Effect.suspend(() => {
            for (const host of hosts) if (waiting.size < waitingMax) waiting.add(host)
            if (telling || waiting.size === 0) return Effect.void
            telling = true
            return Effect.asVoid(Effect.forkIn(tell, scope))
          })
        )
      })
    })
  )
}
