import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer } from "effect"
import { RunnerAddress, RunnerStorage, ShardId, ShardingConfig } from "effect/cluster"
import { Reactivity } from "effect/reactivity"
import { connect } from "node:net"
import { Duplex } from "node:stream"
import { HeldSessions, names } from "../../src/layers/Database.ts"
import * as ShardLocks from "../../src/layers/ShardLocks.ts"
import { releaseRefreshesMax, ShardReleases } from "../../src/layers/ShardReleases.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Delay of every Postgres message on a busy machine, in milliseconds. */
const slowMillis = 25
const shards = Array.from({ length: 60 }, (_, n) => ShardId.make("default", n + 1))
const address = RunnerAddress.make("127.0.0.1", 34_431)

/** Number of sent messages. */
let messages = 0

/** A session with Postgres in which messages wait for each other. */
const slow = (host: string, port: number) => () => {
  const socket = connect(port, host)
  const duplex: Duplex = new Duplex({
    read: () => socket.resume(),
    write: (chunk, _encoding, done) => {
      messages++
      setTimeout(() => socket.write(chunk, () => done()), slowMillis)
    },
    final: (done) => socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    }
  })
  socket.on("data", (chunk) => duplex.push(chunk)).on("close", () => duplex.push(null)).on("error", () => {})
  return duplex
}

const locks = Layer.unwrap(Effect.gen(function*() {
  const { connection, url } = yield* TestDatabase
  const { hostname, port } = new URL(url)
  const sessions = Layer.effect(
    HeldSessions,
    PgClient.make({ ...connection, ...names, stream: slow(hostname, Number(port)), maxConnections: 4 })
  )
  return ShardLocks.layer.pipe(Layer.provideMerge(ShardReleases.layer), Layer.provide(Layer.orDie(sessions)))
})).pipe(
  Layer.provide([
    Reactivity.layer,
    ShardingConfig.layer({ shardLockExpiration: Duration.seconds(6), shardLockRefreshInterval: Duration.seconds(2) })
  ]),
  Layer.provide(TestDatabase.layerOnly),
  Layer.provide(NodeCrypto.layer)
)

layer(locks, { excludeTestServices: true })("the locks of shards", (it) => {
  it.effect("F60: a node that releases hundreds of shards at once on a busy machine loses none of the others", () =>
    Effect.gen(function*() {
      const storage = yield* RunnerStorage.RunnerStorage
      assert.lengthOf(yield* storage.acquire(address, shards), shards.length)
      const [held, given] = [shards.slice(0, 10), shards.slice(10)]
      messages = 0
      const releases = yield* Effect.forEach(given, (shard) => Effect.exit(storage.release(address, shard)), {
        concurrency: "unbounded"
      }).pipe(Effect.forkChild)
      yield* Effect.yieldNow
      assert.sameMembers(yield* storage.refresh(address, held), held)
      const exits = yield* Fiber.join(releases)
      assert.deepStrictEqual(exits.filter(Exit.isFailure), [])
      // A large number of shards does not take longer.
      assert.isBelow(messages, 10)
      assert.sameMembers(yield* storage.refresh(address, shards), held)
      assert.sameMembers(yield* storage.acquire(address, given), given)
    }))

  it.effect("F60: a node ends if it keeps the lock of a shard that it releases, and only then", () =>
    Effect.gen(function*() {
      const storage = yield* RunnerStorage.RunnerStorage
      const releases = yield* ShardReleases
      const [late, never, owned] = shards as [ShardId.ShardId, ShardId.ShardId, ShardId.ShardId]
      const lost = new Set([late, never].map(String))
      const refresh = (shardIds: ReadonlyArray<ShardId.ShardId>) => storage.refresh(address, shardIds)
      yield* storage.acquire(address, shards)
      const stuck = yield* Effect.forkChild(releases.stuck, { startImmediately: true })
      // Ownership is still unknown.
      for (let n = 0; n < releaseRefreshesMax; n++) yield* refresh([late, owned])
      yield* releases.owner({ hasShardId: (shard) => !lost.has(String(shard)) })
      for (let n = 1; n < releaseRefreshesMax; n++) yield* refresh([late, never, owned])
      // The late shard was released and came back: its count starts again.
      lost.delete(String(late))
      yield* refresh([late, owned])
      lost.add(String(late))
      for (let n = 1; n < releaseRefreshesMax; n++) yield* refresh([late, never, owned])
      assert.isUndefined(stuck.pollUnsafe())
      yield* refresh([never, owned])
      assert.include((yield* Effect.flip(Fiber.join(stuck))).message, `shard ${never} `)
    }))
})
