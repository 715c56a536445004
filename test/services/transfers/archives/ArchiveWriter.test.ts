import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { unzipSync } from "fflate"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import * as ArchiveExports from "../../../../src/actors/transfers/ArchiveExports.ts"
import { type AccountId, StatusId } from "../../../../src/services/database/Ids.ts"
import { FileOwners } from "../../../../src/services/media/FileOwners.ts"
import { StoredFiles } from "../../../../src/services/media/StoredFiles.ts"
import { forEachEntry } from "../../../../src/services/transfers/archives/ArchiveEntries.ts"
import { ArchiveParts } from "../../../../src/services/transfers/archives/ArchiveParts.ts"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import { archiveServer, runTransfer } from "../../../support/Archives.ts"
import { post, status } from "../../../support/Posts.ts"
import { user } from "../../../support/SignedIn.ts"

const written = (owner: AccountId, text: string, more: Parameters<typeof post>[1] = {}) =>
  Effect.map(
    AccountActors.use((actors) => actors.tell(owner, { _tag: "Publish", post: post(text, more) })),
    (response) => StatusId.make(BigInt(response.id))
  )

/** Attaches a file with this content as a picture to a post. */
const attach = Effect.fnUntraced(function*(owner: AccountId, status: StatusId, id: bigint, text: string) {
  const [sql, fs] = [yield* SqlClient.SqlClient, yield* FileSystem.FileSystem]
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFileString(path, text)
  const name = yield* StoredFiles.use((files) => files.keep("png", path, text.length))
  yield* sql`INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x, focus_y, file_name,
      created_at, touched_at)
    VALUES (${id}, ${owner}, ${status}, 'image', 'ready', 'A drawing', 0.5, -0.25, ${name}, now(), now())`
  yield* sql`UPDATE statuses SET media_ids = ARRAY[${id}::bigint] WHERE id = ${status}`
  yield* FileOwners.use((owners) => owners.hold([name], { mediaId: id }))
  return name
})

const begin = (owner: AccountId) =>
  Transfers.use((transfers) =>
    transfers.begin(owner, { kind: "archive_out", options: {}, total: 0, failed: 0, unconfirmed: false })
  )
const bytesOf = Effect.fnUntraced(function*(id: bigint) {
  const parts = yield* ArchiveParts
  const length = yield* parts.size(id)
  return Buffer.concat([...(yield* Stream.runCollect(parts.read(id, { offset: 0, length })))])
})
const archiveOf = Effect.fnUntraced(function*(owner: AccountId, dies?: Parameters<typeof runTransfer>[1]) {
  const { id } = yield* begin(owner)
  assert.strictEqual((yield* runTransfer(yield* ArchiveExports.make, dies))._tag, "Finished")
  return { id, bytes: yield* bytesOf(id) }
})
const filesOf = (bytes: Uint8Array) =>
  Object.fromEntries(Object.entries(unzipSync(bytes)).map(([path, file]) => [path, Buffer.from(file).toString()]))

layer(archiveServer, { excludeTestServices: true })("an account's archive", (it) => {
  it.effect("has the profile, all posts with their files, favourites and bookmarks, as in Mastodon", () =>
    Effect.gen(function*() {
      const [zoe, bob] = [yield* user("zoe"), yield* user("bob")]
      const pictured = yield* written(zoe, "with a picture")
      const name = yield* attach(zoe, pictured, 77n, "the picture's bytes")
      const reply = yield* written(zoe, "only for followers", { inReplyToId: pictured, visibility: "private" })
      const local = yield* written(zoe, "only here", { localOnly: true })
      const other = yield* written(bob, "liked by zoe")
      const actors = yield* AccountActors
      yield* actors.tell(zoe, { _tag: "Favourite", statusId: other })
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO bookmarks (id, account_id, status_id) VALUES (1, ${zoe}, ${pictured})`
      yield* actors.tell(zoe, { _tag: "Reblog", statusId: other, visibility: null })
      const gone = yield* written(zoe, "deleted")
      yield* actors.tell(zoe, { _tag: "Delete", statusId: gone })

      const { bytes } = yield* archiveOf(zoe)
      const files = filesOf(bytes)
      const mediaPath = `media_attachments/files/${name}`
      assert.sameMembers(Object.keys(files), ["actor.json", "outbox.json", "likes.json", "bookmarks.json", mediaPath])
      assert.strictEqual(files[mediaPath], "the picture's bytes")
      const actor = JSON.parse(files["actor.json"]!)
      assert.deepInclude(actor, {
        type: "Person",
        preferredUsername: "zoe",
        outbox: "outbox.json",
        likes: "likes.json"
      })
      const outbox = JSON.parse(files["outbox.json"]!)
      assert.deepInclude(outbox, { id: "outbox.json", type: "OrderedCollection", totalItems: 4 })
      const [first, second, third, boost] = outbox.orderedItems
      assert.deepInclude(first.object, { type: "Note", attributedTo: actor.id })
      assert.deepInclude(first.object.attachment[0], { url: mediaPath, name: "A drawing", focalPoint: [0.5, -0.25] })
      assert.strictEqual(second.object.inReplyTo, first.object.id)
      assert.deepStrictEqual(second.to, [actor.followers])
      assert.deepInclude(third.object, { id: `${actor.id}/statuses/${local}`, localOnly: true })
      assert.deepInclude(boost, { type: "Announce", object: JSON.parse(files["likes.json"]!).orderedItems[0] })
      assert.include(boost.object, String(other))
      assert.deepStrictEqual(JSON.parse(files["bookmarks.json"]!).orderedItems, [first.object.id])
      assert.include(second.object.id, String(reply))
    }))

  it.effect("is the same wherever the nodes that write it die, and can be read as a stream", () =>
    Effect.gen(function*() {
      const eve = yield* user("eve")
      for (let n = 0; n < 450; n++) yield* status(eve, `post ${n}`)
      for (let n = 0; n < 3; n++) {
        yield* attach(eve, StatusId.make(yield* status(eve, `picture ${n}`)), 100n + BigInt(n), `bytes ${n}`)
      }
      const whole = filesOf((yield* archiveOf(eve)).bytes)
      assert.lengthOf(JSON.parse(whole["outbox.json"]!).orderedItems, 453)
      const drawn = yield* archiveOf(
        eve,
        (step, when) => (step * 7 + (when === "after" ? 3 : 0)) % 4 === 0 && step < 16
      )
      assert.deepStrictEqual(filesOf(drawn.bytes), whole)
      const streamed: Record<string, string> = {}
      yield* forEachEntry(
        drawn.bytes.subarray(0, 64),
        Stream.make(drawn.bytes),
        drawn.bytes.length,
        ({ body, path }) =>
          Effect.map(Stream.runCollect(body), (parts) => {
            streamed[path] = Buffer.concat([...parts]).toString()
          })
      )
      assert.deepStrictEqual(streamed, whole)
      const parts = yield* ArchiveParts
      for (const [offset, length] of [[0, 10], [5, 5_000], [drawn.bytes.length - 30, 30], [900, 0]] as const) {
        const range = Buffer.concat([...(yield* Stream.runCollect(parts.read(drawn.id, { offset, length })))])
        assert.deepStrictEqual(range, drawn.bytes.subarray(offset, offset + length))
      }
    }))
})
