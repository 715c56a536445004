import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import * as ArchiveUndos from "../../../../src/actors/transfers/ArchiveUndos.ts"
import { StatusId } from "../../../../src/services/database/Ids.ts"
import { ServerConfig } from "../../../../src/services/instance/ServerConfig.ts"
import * as Urls from "../../../../src/services/instance/Urls.ts"
import { ArchiveRequests } from "../../../../src/services/transfers/archives/ArchiveRequests.ts"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import {
  archiveServer,
  contentOf,
  importArchive,
  mastodonArchive,
  mover,
  noteOf,
  photo,
  picturedPosts,
  planOf,
  postsOf,
  runTransfer
} from "../../../support/Archives.ts"
import { status } from "../../../support/Posts.ts"
import { user } from "../../../support/SignedIn.ts"

layer(archiveServer, { excludeTestServices: true })("archives that are refused or undone", (it) => {
  it.effect("refuse the archive of another account, unless either names the other as its own", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [mia, config] = [yield* user("mia"), yield* ServerConfig]
      const actor = "https://old.example/users/victim"
      const archive = mastodonArchive(actor, [noteOf(actor, 1)])
      assert.deepInclude(yield* planOf(mia, archive), { state: "failed", problem: "foreign_actor" })
      const alone = new TextEncoder().encode(JSON.stringify({ orderedItems: [noteOf(actor, 1)] }))
      assert.deepInclude(yield* planOf(mia, alone), { state: "failed", problem: "foreign_actor" })
      yield* sql`INSERT INTO accounts (id, username, domain, uri, also_known_as, created_at, updated_at)
        VALUES (5, 'victim', 'old.example', ${actor}, ARRAY[${
        Urls.actor(config, Urls.ActorPath.make("/users/mia"))
      }], now(), now())`
      assert.deepInclude(yield* planOf(mia, alone), { state: "unconfirmed", total: 1 })
      yield* sql`UPDATE transfers SET state = 'cancelled' WHERE account_id = ${mia}`
    }))

  it.effect("refuse hostile files with a reason, and keep nothing of them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [joe, actor] = yield* mover("joe")
      const text = (value: string) => new TextEncoder().encode(value)
      const image = yield* photo
      const huge = noteOf(actor, 1, { content: "x".repeat(1_100_000) })
      const hostile: ReadonlyArray<readonly [Uint8Array, string]> = [
        [text("no archive"), "unreadable"],
        [mastodonArchive(actor, [noteOf(actor, 1)]).subarray(0, 300), "unreadable"],
        [zipSync({ "../outbox.json": text("{}") }), "unsafe_path"],
        [zipSync({ "actor.json": text("{}") }), "empty"],
        [zipSync({ "outbox.json": text("{\"orderedItems\":[{\"a\":") }), "unreadable"],
        [text(`{"orderedItems":[${"1,".repeat(1_000_000)}1]}`), "too_many_posts"],
        [Buffer.from(JSON.stringify({ orderedItems: [noteOf(actor, 1)] }), "utf16le"), "unreadable"],
        [mastodonArchive(actor, [huge]), "oversized_post"],
        [zipSync({ "a/../../b.png": image, "outbox.json": text("{}") }), "unsafe_path"],
        [zipSync({ "a.png": image, "./a.png": image, "outbox.json": text("{}") }), "duplicate_path"]
      ]
      for (const [archive, problem] of hostile) {
        const { problem: found, state } = yield* planOf(joe, archive)
        assert.deepStrictEqual([state, found], ["failed", problem])
      }
      assert.lengthOf(yield* sql`SELECT FROM archive_files`, 0)
      assert.lengthOf(yield* sql`SELECT FROM stored_files WHERE transfer_id IS NOT NULL`, 0)
      assert.lengthOf(yield* postsOf(joe), 0)
    }))

  it.effect("can be undone as a whole: posts without interactions are deleted without telling other servers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const lea = yield* user("lea")
      const [kim, actor] = yield* mover("kim")
      const own = yield* status(kim, "written here")
      yield* sql`UPDATE account_stats SET statuses_count = 1 WHERE account_id = ${kim}`
      const { files, items } = yield* picturedPosts(
        actor,
        45,
        1,
        (n) => n > 0 ? { inReplyTo: `${actor}/statuses/${n - 1}` } : {}
      )
      const archive = mastodonArchive(actor, items, files)
      const { id } = yield* importArchive(kim, archive)
      const posts = yield* postsOf(kim)
      assert.lengthOf(posts, 46)
      const noticed = posts[10]!.id
      const actors = yield* AccountActors
      yield* actors.tell(lea, { _tag: "Favourite", statusId: StatusId.make(noticed) })
      const undone = yield* ArchiveRequests.use((archives) => archives.undo(kim, id))
      assert.strictEqual(
        (yield* runTransfer(yield* ArchiveUndos.make, (step, when) => step === 1 && when === "after"))._tag,
        "Finished"
      )
      const transfers = yield* Transfers
      assert.strictEqual((yield* transfers.find(kim, undone.id)).removed, 45)
      assert.deepStrictEqual((yield* postsOf(kim)).map((row) => row.id), [own])
      assert.deepStrictEqual(
        (yield* sql`SELECT status_id FROM fanouts WHERE account_id = ${kim} AND kind = 'delete'`).map((row) =>
          row["statusId"]
        ),
        []
      )
      assert.lengthOf(yield* sql`SELECT FROM media_attachments WHERE account_id = ${kim}`, 0)
      assert.lengthOf(yield* sql`SELECT FROM imported_statuses WHERE account_id = ${kim}`, 0)
      assert.strictEqual((yield* contentOf(kim)).stats?.["statusesCount"], 1)
      assert.strictEqual((yield* importArchive(kim, archive)).added, 45)
    }))
})
