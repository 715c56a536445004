import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Pipeline from "../../../src/actors/media/Pipeline.ts"
import type { MediaId } from "../../../src/services/database/Ids.ts"
import { MediaJobs } from "../../../src/services/media/MediaJobs.ts"
import { MediaRefused, MediaTools } from "../../../src/services/media/MediaTools.ts"
import { StoredFiles } from "../../../src/services/media/StoredFiles.ts"
import { layerJobs, remainingFiles, states, tools, upload } from "../../support/MediaJobs.ts"

const run = (id: MediaId, mediaTools: MediaTools["Service"]) =>
  Effect.flatMap(Pipeline.make.pipe(Effect.provideService(MediaTools, mediaTools)), (pipeline) => pipeline.run(id))

layer(layerJobs)("a media job that fails late", (it) => {
  it.effect("F123: an attempt that a newer one replaced fails without taking its files", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const good = yield* tools()
      const jobs = yield* MediaJobs
      const late = Effect.fail(new MediaRefused({ text: "late" }))
      yield* run(id, { ...good, attachment: () => Effect.andThen(Effect.orDie(jobs.claim(id)), late) })
      assert.deepInclude(yield* states(id), { state: "processing", attempts: 2 })
      yield* remainingFiles
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT FROM stored_files WHERE media_id = ${id}`, 1)
      yield* run(id, good)
      assert.strictEqual((yield* states(id)).state, "ready")
    }))

  it.effect("F123: a file that fails does not keep a cover that its owner set in the meantime", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* upload
      const { bytes, name } = yield* (yield* StoredFiles).receive("upload", Stream.make(new Uint8Array(9)), 100)
      const good = yield* tools()
      yield* run(id, {
        ...good,
        attachment: () =>
          attachments.setPendingPreview(owner, id, { name, bytes, type: { mime: "image/png", kind: "picture" } }).pipe(
            Effect.orDie,
            Effect.andThen(Effect.fail(new MediaRefused({ text: "no picture" })))
          )
      })
      assert.strictEqual((yield* states(id)).state, "failed")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT name FROM stored_files WHERE media_id = ${id}`, [])
    }))
})
