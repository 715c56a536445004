import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Pipeline from "../../../src/actors/media/Pipeline.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { AttachmentWriter } from "../../../src/services/media/AttachmentWriter.ts"
import { sizeOf } from "../../../src/services/media/MediaRecord.ts"
import { MediaTools } from "../../../src/services/media/MediaTools.ts"
import { StoredFiles } from "../../../src/services/media/StoredFiles.ts"
import { layerJobs, remainingFiles, tools, upload } from "../../support/MediaJobs.ts"

/** Makes a processed video with its stored preview. */
const film = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const attachment = yield* upload
  const { run } = yield* Pipeline.make.pipe(Effect.provideService(MediaTools, yield* tools()))
  yield* run(attachment.id)
  yield* sql`UPDATE media_attachments SET type = 'video' WHERE id = ${attachment.id}`
  return attachment
})

/** Stores an image as a preview; `swept` if the sweep has deleted it. */
const preview = Effect.fnUntraced(function*(swept: boolean) {
  const { name } = yield* (yield* StoredFiles).receive("upload", Stream.make(new Uint8Array(9)), 100)
  if (swept) yield* remainingFiles
  const colors = { background: "#000000", foreground: "#ffffff", accent: "#ffffff" }
  return { previewName: name, size: sizeOf(1, 1), blurhash: "blur", colors }
})

/** Returns a file's preview, and whether the attachment owns it. */
const shown = (id: bigint) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql<{ name: string; held: boolean }>`SELECT preview_name AS name, EXISTS (SELECT FROM stored_files f
        WHERE f.name = m.preview_name AND f.media_id = m.id) AS held FROM media_attachments m WHERE id = ${id}`,
      ([row]) => row
    )
  )

const services = AttachmentWriter.layer.pipe(Layer.provide(Broadcast.layerMemory), Layer.provideMerge(layerJobs))

layer(services)("previews of files", (it) => {
  it.effect("F126: a preview that was swept before it was attached is refused, and the old one stays", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* film
      const old = yield* shown(id)
      assert.isTrue(old?.held)
      const refused = yield* Effect.flip(attachments.showPreview(owner, id, yield* preview(true)))
      assert.strictEqual(refused._tag, "Conflict")
      assert.deepStrictEqual(yield* shown(id), old)
      const next = yield* preview(false)
      yield* attachments.showPreview(owner, id, next)
      assert.deepStrictEqual(yield* shown(id), { name: next.previewName, held: true })
    }))

  it.effect("F126: also if an edit of the post attaches it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const writer = yield* AttachmentWriter
      const { id, owner } = yield* film
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (1, ${owner}, 'public', 1, ${new Date(0)})`
      yield* sql`UPDATE media_attachments SET status_id = 1 WHERE id = ${id}`
      const old = yield* shown(id)
      const lost = yield* preview(true)
      const refused = yield* Effect.flip(sql.withTransaction(writer.revise(1n, [{ id, preview: lost }])))
      assert.strictEqual(refused._tag, "Conflict")
      assert.deepStrictEqual(yield* shown(id), old)
      const next = yield* preview(false)
      yield* sql.withTransaction(writer.revise(1n, [{ id, preview: next }]))
      assert.deepStrictEqual(yield* shown(id), { name: next.previewName, held: true })
    }))
})
