import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as DomainEntity from "../../../src/actors/domain/DomainEntity.ts"
import { RemoteDomain } from "../../../src/actors/domain/DomainProtocol.ts"
import * as Cluster from "../../../src/layers/Cluster.ts"
import { Outbox } from "../../../src/services/federation/outbox/Outbox.ts"
import { layerRounds, Outside, receiver, send, sender } from "./Rounds.ts"

const actors = DomainEntity.layer.pipe(Layer.provideMerge(Cluster.layerSingle), Layer.provideMerge(layerRounds))

layer(Layer.fresh(actors))("wake-ups of a host", (it) => {
  it.effect("F152: a wake-up that arrives during a failing round is not lost", () =>
    Effect.gen(function*() {
      const outside = yield* Outside
      const clientOf = yield* RemoteDomain.client
      const host = "busy.test"
      // The runner acquires its shards.
      yield* TestClock.adjust("2 seconds")
      const [from, one, other] = [yield* sender, yield* receiver(host, "/one"), yield* receiver(host, "/other")]
      const outbox = yield* Outbox
      const failsOnce = Effect.gen(function*() {
        yield* Effect.orDie(Effect.provideService(send(from, other, "second"), Outbox, outbox))
        yield* Effect.orDie(clientOf(host).Wake())
        return yield* Effect.die("a defect")
      })
      outside.says = (_, before) => before === 0 ? failsOnce : 202
      yield* send(from, one, "first")
      yield* clientOf(host).Wake()
      // Without any passage of time.
      assert.include(outside.arrived.map(({ uri }) => uri), "second")
    }))
})
