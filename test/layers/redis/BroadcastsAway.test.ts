import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, PubSub, Redacted, Schedule } from "effect"
import * as Broadcasts from "../../../src/layers/Broadcasts.ts"
import { PostgresChannel } from "../../../src/layers/PostgresChannel.ts"
import { Redis } from "../../../src/layers/Redis.ts"
import { Broadcast, type BroadcastMessage } from "../../../src/services/events/Broadcast.ts"
import { allowedMillis } from "../../support/MachineSpeed.ts"
import { startRedis } from "../../support/RedisServer.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const revoked = (token: bigint): BroadcastMessage => ({ _tag: "Revoked", tokenIds: [token], accountIds: [] })

const until = (broadcast: Broadcast["Service"], connected: boolean) =>
  Effect.repeat(broadcast.connected, { until: (now) => now === connected, schedule: Schedule.spaced("10 millis") })

/** Builds a node with its own connections to Redis. */
const node = Effect.fnUntraced(function*(url: string) {
  const context = yield* Layer.build(
    Layer.fresh(Broadcasts.layer.pipe(
      Layer.provide(PostgresChannel.layer),
      Layer.provide(Redis.layer(Redacted.make(url)))
    ))
  )
  const broadcast = Context.get(context, Broadcast)
  yield* until(broadcast, true)
  return { broadcast, heard: yield* broadcast.subscribe }
})

layer(Layer.merge(TestDatabase.layer, NodeCrypto.layer), { excludeTestServices: true })(
  "The bus while Redis is frozen",
  (it) => {
    it.effect("delivers locally at once, reports that it receives nothing from other nodes, and receives again afterwards", () =>
      Effect.gen(function*() {
        const { pid, url } = yield* startRedis
        const [one, other] = [yield* node(url), yield* node(url)]
        process.kill(pid, "SIGSTOP")
        const [waited] = yield* Effect.timed(
          Effect.forEach([1n, 2n, 3n, 4n], (id) => one.broadcast.publish(revoked(id)))
        )
        assert.isBelow(Duration.toMillis(waited), allowedMillis(3_000))
        assert.deepStrictEqual(yield* PubSub.takeAll(one.heard), [1n, 2n, 3n, 4n].map(revoked))
        yield* until(one.broadcast, false)
        process.kill(pid, "SIGCONT")
        yield* until(other.broadcast, true)
        yield* until(one.broadcast, true)
        yield* Effect.repeat(
          Effect.andThen(one.broadcast.publish(revoked(5n)), PubSub.takeUpTo(other.heard, 100)),
          { until: (messages) => messages.some((message) => message._tag === "Revoked" && message.tokenIds[0] === 5n) }
        )
      }).pipe(Effect.scoped))
  }
)
