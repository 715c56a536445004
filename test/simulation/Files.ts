import { Effect, Layer, Semaphore, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { MediaTurns } from "../../src/actors/media/MediaEntity.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { MediaJobs } from "../../src/services/media/MediaJobs.ts"
import { sizeOf } from "../../src/services/media/MediaRecord.ts"
import { MediaRefused, MediaToolFailed, MediaTools, type RenderedMedia } from "../../src/services/media/MediaTools.ts"
import { Storage, StorageFailed } from "../../src/services/media/Storage.ts"
import { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import type { Machine } from "./Machine.ts"
import { Dice } from "./Seeded.ts"
import type { World } from "./World.ts"

/** Maximum durations of a job on a node, and of a file transfer, in milliseconds. */
const jobMillisMax = 8_000
const transferMillisMax = 200
const jobsAtOnce = 2

/** One file store for all nodes, with injected faults. Writes are atomic. */
const storage = (world: World, machine: Machine): Storage["Service"] => {
  const { files } = world
  const dice = new Dice(world.seed, `files ${machine.name}`)
  const around = <A, E>(effect: Effect.Effect<A, E>) =>
    world.step(machine, "files", "before").pipe(
      Effect.andThen(effect),
      Effect.tap(() => world.step(machine, "files", "after"))
    )
  const arrive = (name: string, content: string) =>
    Effect.sync(() => {
      if (files.has(name)) world.wrong.push(`I15: ${machine.name} writes the file ${name} again`)
      files.set(name, content)
    })
  const transfer = Effect.suspend(() => Effect.sleep(dice.between(1, transferMillisMax)))
  return Storage.of({
    write: (name, bytes) =>
      around(Effect.andThen(Stream.runForEach(bytes, () => transfer), arrive(name, "what a client sent"))),
    writeFile: (name, path) => around(Effect.andThen(transfer, arrive(name, path))),
    size: (name) => Effect.sync(() => files.get(name)?.length),
    read: () => Stream.empty,
    local: (name) =>
      Effect.suspend(() =>
        files.has(name) ? Effect.succeed(name) : new StorageFailed({ text: `${name} is not there` })
      ),
    folder: Effect.succeed("work"),
    remove: (name) => around(Effect.sync(() => void files.delete(name))),
    list: Stream.suspend(() => Stream.fromIterable([...files.keys()].map((name) => ({ name, bytes: 1 }))))
  })
}

/** Slow tools that sometimes refuse a file or crash. */
const tools = (world: World, machine: Machine): MediaTools["Service"] => {
  const dice = new Dice(world.seed, `tools ${machine.name}`)
  const rendered: RenderedMedia = {
    type: "image",
    original: { path: "an original", extension: "png", bytes: 11 },
    preview: { path: "a preview", extension: "png", bytes: 9 },
    meta: { original: sizeOf(1, 1) },
    blurhash: null
  }
  return MediaTools.of({
    measure: () => Effect.succeed(undefined),
    types: new Set(["image/png"]),
    attachment: () =>
      Effect.suspend(() => {
        world.count("media attempt")
        const end = dice.weighted<() => Effect.Effect<RenderedMedia, MediaRefused | MediaToolFailed>>([
          [8, () => Effect.succeed(rendered)],
          [1, () => Effect.fail(new MediaRefused({ text: "not this one" }))],
          [1, () => Effect.fail(new MediaToolFailed({ text: "it crashed" }))]
        ])
        return Effect.andThen(Effect.sleep(dice.between(10, jobMillisMax)), Effect.suspend(end))
      }),
    preview: () => Effect.die("not used by the simulation"),
    profilePicture: () => Effect.die("not used by the simulation"),
    likeness: () => Effect.succeed(0n)
  })
}

/** I15: only the latest attempt of a file counts. */
const newestOnly = (world: World, jobs: MediaJobs["Service"]): MediaJobs["Service"] => ({
  ...jobs,
  claim: (id) =>
    Effect.tap(jobs.claim(id), (job) =>
      Effect.sync(() => {
        if (job !== undefined) world.attempts.set(id, Math.max(job.attempts, world.attempts.get(id) ?? 0))
      })),
  complete: (id, job, outcome) =>
    Effect.tap(jobs.complete(id, job, outcome), (done) =>
      Effect.sync(() => {
        const newest = world.attempts.get(id) ?? 0
        if (done !== "shown" || job.attempts >= newest) return
        world.wrong.push(`I15: attempt ${job.attempts} of ${id} counted after attempt ${newest} had begun`)
      })),
  release: (id, job) =>
    Effect.tap(jobs.release(id, job), (given) =>
      Effect.sync(() => {
        const newest = world.attempts.get(id) ?? 0
        if (!given) return
        if (job.attempts >= newest) world.attempts.delete(id)
        else world.wrong.push(`I15: attempt ${job.attempts} of ${id} was released after attempt ${newest} had begun`)
      }))
})

/** Job rows and the ledger of files, real or replaced by the run's mutation. */
export const rows = (world: World) => {
  const { mutation } = world
  const files = Layer.effect(
    StoredFiles,
    Effect.gen(function*() {
      const real = yield* StoredFiles
      return mutation.storedFiles?.(real, yield* Storage, yield* SqlClient.SqlClient) ?? real
    })
  ).pipe(Layer.provide(StoredFiles.layer))
  const jobs = Layer.effect(
    MediaJobs,
    Effect.map(MediaJobs, (real) => newestOnly(world, mutation.processings?.(real) ?? real))
  ).pipe(Layer.provide(MediaJobs.layerNoDeps))
  return jobs.pipe(Layer.provideMerge(files), Layer.provideMerge(FileOwners.layer))
}

/** Services that the media jobs of a machine need. */
export const layer = (world: World, machine: Machine) => {
  const dice = new Dice(world.seed, `names ${machine.name}`)
  const seen = storage(world, machine)
  return Layer.mergeAll(
    Layer.succeed(Storage, seen),
    Layer.succeed(MediaTools, tools(world, machine)),
    Layer.effect(MediaTurns, Semaphore.make(jobsAtOnce)),
    Layer.succeed(
      SecureRandom.SecureRandom,
      SecureRandom.make((size) => Uint8Array.from({ length: size }, () => dice.between(0, 256)))
    )
  )
}
