import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Queue, Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { MediaActors } from "../../../src/actors/media/MediaActors.ts"
import { MediaTurns } from "../../../src/actors/media/MediaEntity.ts"
import * as Cluster from "../../../src/layers/Cluster.ts"
import * as Media from "../../../src/layers/Media.ts"
import { MediaTools } from "../../../src/services/media/MediaTools.ts"
import { layerJobs, states, tools, upload } from "../../support/MediaJobs.ts"

const jobsAtOnce = 2

/** Starts a node with the actors of media jobs and this tool; it ends with its scope. */
const node = Effect.fnUntraced(function*(mediaTools: MediaTools["Service"]) {
  const built = yield* Layer.build(Layer.fresh(
    Media.layerOver.pipe(
      Layer.provide(Layer.succeed(MediaTools, mediaTools)),
      Layer.provide(Layer.effect(MediaTurns, Semaphore.make(jobsAtOnce))),
      Layer.provide(Cluster.layerSingle)
    )
  ))
  // The node acquires its shards.
  yield* TestClock.adjust("2 seconds")
  return Context.get(built, MediaActors)
})

const countIn = Effect.fnUntraced(function*(state: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT id FROM media_attachments WHERE state = ${state}`
  return rows.length
})

const until = <E, R>(done: Effect.Effect<boolean, E, R>) => Effect.repeat(done, { until: (is) => is })

/** Waits while time advances; a sweep whose query is still running when it is due runs the next time. */
const inTime = <E, R>(done: Effect.Effect<boolean, E, R>) => until(Effect.andThen(TestClock.adjust("1 second"), done))

/** Makes a tool that reports when it starts, and waits until it is released. */
const gated = Effect.gen(function*() {
  const entered = yield* Queue.unbounded<void>()
  const mayGo = yield* Queue.unbounded<void>()
  const mediaTools = yield* tools()
  const attachment: MediaTools["Service"]["attachment"] = (source, folder, thumbnail) =>
    Queue.offer(entered, undefined).pipe(
      Effect.andThen(Queue.take(mayGo)),
      Effect.andThen(mediaTools.attachment(source, folder, thumbnail))
    )
  return { entered, mayGo, mediaTools: { ...mediaTools, attachment } }
})

layer(layerJobs)("media jobs as actors", (it) => {
  it.effect("a node runs at most MEDIA_CONCURRENCY jobs at once; the others wait unstarted", () =>
    Effect.gen(function*() {
      const { entered, mediaTools, mayGo } = yield* gated
      const mediaActors = yield* node(mediaTools)
      const ids = yield* Effect.all(Array.from({ length: 6 }, () => Effect.map(upload, ({ id }) => id)))
      yield* Effect.forEach(ids, mediaActors.wake, { discard: true })
      for (let left = ids.length; left > 0; left--) {
        const now = Math.min(jobsAtOnce, left)
        yield* until(Effect.map(Queue.size(entered), (begun) => begun === ids.length - left + now))
        // Several queries, during which a third job could start.
        for (let round = 0; round < 5; round++) assert.strictEqual(yield* countIn("processing"), now)
        assert.strictEqual(yield* countIn("queued"), left - now)
        yield* Queue.offer(mayGo, undefined)
        yield* until(Effect.map(countIn("ready"), (ready) => ready === ids.length - left + 1))
      }
      for (const id of ids) assert.deepInclude(yield* states(id), { state: "ready", attempts: 1 })
    }))

  it.effect("a job without a wake-up is found, and runs once however often it is requested", () =>
    Effect.gen(function*() {
      const { entered, mediaTools, mayGo } = yield* gated
      const mediaActors = yield* node(mediaTools)
      const { id } = yield* upload
      yield* inTime(Effect.map(Queue.size(entered), (begun) => begun === 1))
      yield* Queue.take(entered)
      yield* Effect.all([mediaActors.wake(id), mediaActors.wake(id)])
      // The job takes long enough for every sweep to find it.
      yield* TestClock.adjust("2 minutes")
      yield* Queue.offer(mayGo, undefined)
      yield* mediaActors.wait(id, 60)
      assert.deepInclude(yield* states(id), { state: "ready", attempts: 1 })
      assert.strictEqual(yield* Queue.size(entered), 0)
    }))

  it.effect("a stopping node hands its job to another node, which completes it", () =>
    Effect.gen(function*() {
      const first = yield* gated
      const scope = yield* Scope.make()
      const mediaActors = yield* Scope.provide(node(first.mediaTools), scope)
      const { id } = yield* upload
      yield* mediaActors.wake(id)
      yield* Queue.take(first.entered)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* until(Effect.map(TestClock.adjust("1 second"), () => stopping.pollUnsafe() !== undefined))
      assert.deepInclude(yield* states(id), { state: "queued", attempts: 0 })
      yield* node(yield* tools())
      yield* inTime(Effect.map(states(id), ({ state }) => state === "ready"))
      assert.strictEqual((yield* states(id)).attempts, 1)
    }))

  it.effect("a request stops waiting for a job at its deadline, and the job continues", () =>
    Effect.gen(function*() {
      const { entered, mediaTools, mayGo } = yield* gated
      const mediaActors = yield* node(mediaTools)
      const { id } = yield* upload
      const waiting = yield* Effect.forkChild(mediaActors.wait(id, 2))
      yield* Queue.take(entered)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      yield* until(Effect.map(Effect.yieldNow, () => waiting.pollUnsafe() !== undefined))
      assert.strictEqual((yield* states(id)).state, "processing")
      yield* Queue.offer(mayGo, undefined)
      yield* mediaActors.wait(id, 60)
      assert.strictEqual((yield* states(id)).state, "ready")
    }))
})
