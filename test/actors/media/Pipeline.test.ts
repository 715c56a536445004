import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Pipeline from "../../../src/actors/media/Pipeline.ts"
import { HeldSessions } from "../../../src/layers/Database.ts"
import { Environment } from "../../../src/layers/Environment.ts"
import * as LocalStorage from "../../../src/layers/storage/LocalStorage.ts"
import { workMillisMax } from "../../../src/layers/storage/WorkFolders.ts"
import type { MediaId } from "../../../src/services/database/Ids.ts"
import { attemptsMax, MediaJobs } from "../../../src/services/media/MediaJobs.ts"
import { MediaRefused, MediaToolFailed, MediaTools } from "../../../src/services/media/MediaTools.ts"
import { Storage, StorageFailed } from "../../../src/services/media/Storage.ts"
import { StoredFiles, unheldMillisMax } from "../../../src/services/media/StoredFiles.ts"
import { eventually } from "../../support/Eventually.ts"
import { layerJobs, remainingFiles, states, tools, upload } from "../../support/MediaJobs.ts"

const run = (id: MediaId, mediaTools: MediaTools["Service"]) =>
  Effect.flatMap(Pipeline.make.pipe(Effect.provideService(MediaTools, mediaTools)), (pipeline) => pipeline.run(id))

layer(layerJobs)("the steps of a media job", (it) => {
  it.effect("killed before, in or after any step, a job completes and leaves no file behind", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const good = yield* tools()
      let killed = 0
      for (let step = 0; step < 20; step++) {
        const { id } = yield* upload
        let steps = 0
        const count = Effect.suspend(() => ++steps > step ? Effect.die("killed") : Effect.void)
        const dying: Storage["Service"] = {
          ...storage,
          writeFile: (name, path) => count.pipe(Effect.andThen(storage.writeFile(name, path)), Effect.andThen(count)),
          local: (name) => Effect.andThen(count, storage.local(name)),
          folder: Effect.andThen(count, storage.folder)
        }
        const exit = yield* run(id, yield* tools(count)).pipe(
          Effect.provide(Layer.fresh(StoredFiles.layer).pipe(Layer.provide(Layer.succeed(Storage, dying)))),
          Effect.provideService(Storage, dying),
          Effect.exit
        )
        if (exit._tag === "Failure") {
          killed++
          assert.strictEqual((yield* states(id)).state, "processing")
        }
        yield* run(id, good)
        assert.strictEqual((yield* states(id)).state, "ready", `killed at step ${step}`)
      }
      assert.strictEqual(killed, 8)
      const { held, ledger, onDisk } = yield* remainingFiles
      assert.deepStrictEqual(onDisk, held)
      assert.deepStrictEqual(ledger, held)
      assert.lengthOf(held, 40)
    }))

  it.effect("row 45: a decoder that always crashes is tried three times, one that refuses once; then the job has failed", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      let tries = 0
      const crash = Effect.suspend(() => {
        tries++
        return Effect.fail(new MediaToolFailed({ text: "SIGSEGV" }))
      })
      yield* run(id, yield* tools(crash))
      assert.strictEqual(tries, attemptsMax)
      assert.deepInclude(yield* states(id), { state: "failed", error: Pipeline.processingFailed })
      const other = yield* upload
      yield* run(other.id, yield* tools(Effect.fail(new MediaRefused({ text: "1x1 images are not supported" }))))
      assert.deepStrictEqual(yield* states(other.id), {
        state: "failed",
        attempts: 1,
        error: "1x1 images are not supported"
      })
      const { held, onDisk } = yield* remainingFiles
      assert.deepStrictEqual(onDisk, held)
    }))

  it.effect("a file that always kills its node fails in the end, without a fourth node", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const deadly = yield* tools(Effect.die("killed"))
      for (let node = 0; node < attemptsMax; node++) yield* Effect.exit(run(id, deadly))
      assert.deepInclude(yield* states(id), { state: "processing", attempts: attemptsMax })
      yield* run(id, deadly)
      assert.strictEqual((yield* states(id)).state, "failed")
    }))

  it.effect("a late attempt that was declared dead changes nothing", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const jobs = yield* MediaJobs
      const late = (yield* jobs.claim(id))!
      yield* run(id, yield* tools())
      const before = yield* states(id)
      const outcome = { type: "image" as const, fileName: "x", previewName: null, meta: {}, blurhash: null }
      assert.strictEqual(yield* jobs.complete(id, late, outcome), "lost")
      yield* jobs.fail(id, late, "late")
      assert.deepStrictEqual(yield* states(id), before)
    }))

  it.effect("an unavailable storage costs no attempt; the job waits and is found", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const jobs = yield* MediaJobs
      const storage = yield* Storage
      const away: Storage["Service"] = { ...storage, local: () => Effect.fail(new StorageFailed({ text: "away" })) }
      yield* run(id, yield* tools()).pipe(Effect.provideService(Storage, away), Effect.exit)
      assert.deepInclude(yield* states(id), { state: "queued", attempts: 0 })
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(yield* jobs.due(10), [id])
    }))

  it.effect("a job that is told to stop does not use up an attempt", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      yield* Effect.exit(run(id, yield* tools(Effect.interrupt)))
      assert.deepInclude(yield* states(id), { state: "queued", attempts: 0 })
      yield* run(id, yield* tools())
      assert.deepInclude(yield* states(id), { state: "ready", attempts: 1 })
    }))

  it.effect("a frozen attempt whose files were swept shows none of them", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const files = yield* StoredFiles
      const storage = yield* Storage
      const late = Effect.andThen(TestClock.adjust(unheldMillisMax + 1), Effect.orDie(files.sweep))
      const slow: Storage["Service"] = {
        ...storage,
        writeFile: (name, path) => Effect.tap(storage.writeFile(name, path), late)
      }
      yield* run(id, yield* tools()).pipe(
        Effect.provide(Layer.fresh(StoredFiles.layer).pipe(Layer.provide(Layer.succeed(Storage, slow)))),
        Effect.exit
      )
      assert.deepInclude(yield* states(id), { state: "queued", attempts: 0 })
      yield* run(id, yield* tools())
      assert.strictEqual((yield* states(id)).state, "ready")
      const { held, onDisk } = yield* remainingFiles
      assert.deepStrictEqual(onDisk, held)
    }))

  it.effect("F287: a file that arrives over hours is kept, and one that stalls for an hour is swept", () =>
    Effect.gen(function*() {
      const files = yield* StoredFiles
      /** A stream of ten chunks; the sweep runs before each. */
      const slow = (pause: number) =>
        Stream.range(1, 10).pipe(
          Stream.mapEffect((number) =>
            Effect.as(
              Effect.andThen(TestClock.adjust(pause), Effect.orDie(files.sweep)),
              Uint8Array.of(number)
            )
          )
        )
      const first = yield* files.receive("upload", Stream.make(Uint8Array.of(0)), 10)
      const { bytes, name } = yield* files.receive("upload", slow(unheldMillisMax / 2), 10, [first.name])
      assert.strictEqual(bytes, 10)
      // The request has another hour to give the file an owner.
      yield* TestClock.adjust(unheldMillisMax / 2)
      yield* files.sweep
      const sql = yield* SqlClient.SqlClient
      const storedFiles = sql`SELECT FROM stored_files WHERE name = ANY (${[
        first.name,
        name
      ]}::text[]) AND doomed_at IS NULL`
      assert.lengthOf(yield* storedFiles, 2)
      const stalled = yield* Effect.exit(files.receive("upload", slow(unheldMillisMax + 1), 10))
      assert.strictEqual(stalled._tag, "Failure")
    }))

  it.effect("files that a killed node left in its work folder are deleted after an hour", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { dataDir } = yield* Environment
      const work = `${dataDir}/media/work`
      const old = `${work}/job-of-a-dead-node`
      yield* fs.makeDirectory(old, { recursive: true })
      const storage = yield* Layer.build(Layer.fresh(LocalStorage.layer))
      const { folder } = Context.get(storage, Storage)
      yield* fs.utimes(old, 0, 0)
      yield* Effect.scoped(folder)
      assert.include(yield* fs.readDirectory(work), "job-of-a-dead-node")
      yield* TestClock.adjust(workMillisMax + 1)
      const mine = yield* folder
      assert.deepStrictEqual(yield* fs.readDirectory(work), [mine.slice(work.length + 1)])
    }))

  it.effect("uploads unattached for a day are removed with their files", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* upload
      yield* run(id, yield* tools())
      yield* TestClock.adjust("23 hours")
      yield* attachments.sweep
      assert.strictEqual((yield* attachments.find(owner, id)).state, "ready")
      yield* TestClock.adjust("2 hours")
      assert.isAbove(yield* attachments.sweep, 0)
      assert.strictEqual((yield* Effect.flip(attachments.find(owner, id)))._tag, "RecordNotFound")
      const { held, ledger, onDisk } = yield* remainingFiles
      assert.deepStrictEqual([onDisk, ledger, held], [[], [], []])
    }))

  it.effect("a post that attaches a file while the sweep checks it keeps it", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* upload
      yield* run(id, yield* tools())
      yield* TestClock.adjust("25 hours")
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (1, ${owner}, 'public', 1, ${new Date(0)})`
      const [taken, swept] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const post = yield* sql`UPDATE media_attachments SET status_id = 1 WHERE id = ${id}`.pipe(
        Effect.andThen(Deferred.succeed(taken, undefined)),
        Effect.andThen(Deferred.await(swept)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(taken)
      const sweep = yield* Effect.forkChild(attachments.sweep)
      // The sweep has found the row and waits for the post; the observer has its own connection.
      const onlooker = yield* HeldSessions
      const waits = onlooker`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* eventually(waits, (rows) => rows.length > 0)
      yield* Deferred.succeed(swept, undefined)
      yield* Fiber.join(post)
      assert.strictEqual(yield* Fiber.join(sweep), 0)
      assert.strictEqual((yield* states(id)).state, "ready")
    }))

  it.effect("F33: a thumbnail that its owner sets while a file is processed is kept", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* upload
      const { bytes, name } = yield* (yield* StoredFiles).receive("upload", Stream.make(new Uint8Array(9)), 100)
      const good = yield* tools()
      const given: Array<boolean> = []
      const give = Effect.orDie(
        attachments.setPendingPreview(owner, id, { name, bytes, type: { mime: "image/png", kind: "picture" } })
      )
      yield* run(id, {
        ...good,
        attachment: (source, folder, picture) =>
          Effect.suspend(() => {
            given.push(picture !== undefined)
            return Effect.andThen(given.length === 1 ? give : Effect.void, good.attachment(source, folder, picture))
          })
      })
      assert.deepStrictEqual(given, [false, true])
      assert.deepInclude(yield* states(id), { state: "ready", attempts: 1 })
      assert.isFalse(yield* give)
      const { held, ledger, onDisk } = yield* remainingFiles
      assert.deepStrictEqual(onDisk, held)
      assert.deepStrictEqual(ledger, held)
    }))
})
