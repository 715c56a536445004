import { Context, Effect, Layer } from "effect"
import { traced } from "../../services/Traced.ts"
import { RemoteDomain } from "./Protocol.ts"

/** The actors of other hosts, as callers see them. */
export class RemoteDomains extends Context.Service<RemoteDomains, {
  /** Says that something waits for these hosts. Never fails; a lost wake-up is made good by the agenda. */
  readonly wake: (hosts: ReadonlyArray<string>) => Effect.Effect<void>
}>()("murmuration/actors/domain/RemoteDomains") {
  static readonly layer = Layer.effect(
    RemoteDomains,
    Effect.gen(function*() {
      const clientOf = yield* RemoteDomain.client
      return RemoteDomains.of({
        wake: traced("RemoteDomains.wake")((hosts: ReadonlyArray<string>) =>
          Effect.forEach(hosts, (host) => Effect.ignore(clientOf(host).Wake(undefined, { discard: true })), {
            discard: true
          })
        )
      })
    })
  )
}
