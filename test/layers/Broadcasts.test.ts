import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, PubSub, Schedule } from "effect"
import * as Broadcasts from "../../src/layers/Broadcasts.ts"
import { notify, PostgresChannel } from "../../src/layers/PostgresChannel.ts"
import { AccountId, StatusId } from "../../src/services/database/Ids.ts"
import { Broadcast, type BroadcastMessage } from "../../src/services/events/Broadcast.ts"
import { TestRedis } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = Layer.mergeAll(TestDatabase.layer, NodeCrypto.layer)
const alone = Broadcasts.layer.pipe(Layer.provide(PostgresChannel.layer))

const revoked = (token: bigint): BroadcastMessage => ({
  _tag: "Revoked",
  tokenIds: [token],
  accountIds: [AccountId.make(7n)]
})

/** Builds a node's bus, and waits until it is connected. */
const node = <R>(bus: Layer.Layer<Broadcast, unknown, R>) =>
  Effect.gen(function*() {
    const broadcast = Context.get(yield* Effect.orDie(Layer.build(Layer.fresh(bus))), Broadcast)
    yield* Effect.repeat(broadcast.connected, { until: (yes) => yes, schedule: Schedule.spaced("5 millis") })
    return { broadcast, heard: yield* broadcast.subscribe }
  })

layer(Live, { excludeTestServices: true })("Broadcasts", (it) => {
  it.effect("reach the process that publishes them, and each process only once", () =>
    Effect.scoped(Effect.gen(function*() {
      const { broadcast, heard } = yield* node(alone)
      yield* broadcast.publish(revoked(1n))
      yield* broadcast.publish(revoked(2n))
      assert.deepStrictEqual(yield* PubSub.take(heard), revoked(1n))
      assert.deepStrictEqual(yield* PubSub.take(heard), revoked(2n))
    })))

  it.effect("arrive from a command line by NOTIFY", () =>
    Effect.scoped(Effect.gen(function*() {
      const { heard } = yield* node(alone)
      yield* notify(revoked(3n))
      assert.deepStrictEqual(yield* PubSub.take(heard), revoked(3n))
    })))

  it.effect("survive a lost connection and an unreadable message", () =>
    Effect.scoped(Effect.gen(function*() {
      const { broadcast, heard } = yield* node(alone)
      const pg = yield* PgClient.PgClient
      yield* pg.notify("murmuration", "{\"_tag\":\"Nonsense\"}")
      yield* pg`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`
      yield* Effect.repeat(broadcast.connected, { until: (yes) => !yes, schedule: Schedule.spaced("1 millis") })
      yield* Effect.repeat(broadcast.connected, { until: (yes) => yes, schedule: Schedule.spaced("5 millis") })
      yield* notify(revoked(4n))
      assert.deepStrictEqual(yield* PubSub.take(heard), revoked(4n))
    })))

  it.effect("F61: reach the other nodes of a cluster through Redis, once, with any content", () =>
    Effect.scoped(Effect.gen(function*() {
      const context = yield* Layer.build(TestRedis)
      const clustered = alone.pipe(Layer.provide(Layer.succeedContext(context)))
      const [a, b] = [yield* node(clustered), yield* node(clustered)]
      yield* a.broadcast.publish(revoked(5n))
      yield* b.broadcast.publish(revoked(6n))
      for (const { heard } of [a, b]) {
        const both = [yield* PubSub.take(heard), yield* PubSub.take(heard)]
        assert.sameDeepMembers(both, [revoked(5n), revoked(6n)])
      }
      // F61: every message is sent to other nodes, above all cache invalidations.
      const all: ReadonlyArray<BroadcastMessage> = [
        { _tag: "StatusEvent", event: "update", statusId: StatusId.make(1n), accountIds: [], channels: ["public"] },
        { _tag: "StatusDeleted", statusId: StatusId.make(1n), accountIds: [], channels: [] },
        { _tag: "NotificationCreated", accountId: AccountId.make(7n), notificationId: 2n },
        { _tag: "ConversationChanged", accountId: AccountId.make(7n), conversationId: 3n },
        { _tag: "FiltersChanged", accountId: AccountId.make(7n) },
        ...(["account", "status", "relations", "instance", "user", "emojis", "domains"] as const).map(
          (kind) => ({ _tag: "Changed", kind, ids: [4n] }) as const
        )
      ]
      for (const message of all) {
        yield* a.broadcast.publish(message)
        assert.deepStrictEqual(yield* PubSub.take(b.heard), message)
        assert.deepStrictEqual(yield* PubSub.take(a.heard), message)
      }
      yield* a.broadcast.publish(revoked(7n))
      assert.deepStrictEqual(yield* PubSub.take(a.heard), revoked(7n))
      assert.deepStrictEqual(yield* PubSub.take(b.heard), revoked(7n))
    })))
})
