import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { idOf, mediaOf, putFile, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const yearMillis = 365 * 86_400_000

layer(servers, { excludeTestServices: true })("rows that a Mastodon server wrote during the copy", (it) => {
  it.effect("F460: a delta brings rows that were rejected or left out as they came before what they refer to", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const from = yield* source("4.5")
      const { insert } = from
      const ada = yield* from.person(idOf(1), "ada")
      // The copy read the rows below before the post and the account that they refer to were written.
      const post = idOf(10)
      const nils = idOf(2)
      const now = new Date()
      const times = { createdAt: now, updatedAt: now }
      yield* insert("follows", { id: 20n, accountId: ada.id, targetAccountId: nils })
      yield* insert("blocks", { id: 21n, accountId: nils, targetAccountId: ada.id })
      for (const table of ["favourites", "bookmarks", "status_pins"]) {
        yield* insert(table, { id: 22n, accountId: ada.id, statusId: post })
      }
      yield* insert("lists", { id: 25n, accountId: ada.id, title: "Friends" })
      yield* insert("list_accounts", { id: 26n, accountId: nils, listId: 25n })
      yield* insert("polls", {
        id: 27n,
        accountId: ada.id,
        statusId: post,
        options: ["a", "b"],
        cachedTallies: [1n, 0n]
      })
      yield* insert("poll_votes", { id: 28n, accountId: ada.id, pollId: 27n, choice: 0 })
      yield* insert("media_attachments", {
        id: idOf(29),
        accountId: ada.id,
        statusId: post,
        type: 0,
        fileFileName: "a.png"
      })
      yield* putFile(from, placeOf("media_attachments/files", String(idOf(29)), "original", "a.png"), "picture")
      // These are left out without a trace while their post is missing.
      yield* insert("statuses", { id: idOf(9), accountId: ada.id, local: true, text: `hi @nils` })
      yield* insert("mentions", { id: 30n, statusId: idOf(9), accountId: nils })
      yield* from.sql`UPDATE statuses SET updated_at = ${now} WHERE id = ${idOf(9)}`
      yield* insert("quotes", {
        id: 31n,
        accountId: ada.id,
        statusId: post,
        quotedStatusId: idOf(9),
        quotedAccountId: ada.id,
        state: 1,
        ...times
      })
      yield* insert("notifications", {
        id: 32n,
        accountId: ada.id,
        fromAccountId: ada.id,
        activityId: 22n,
        activityType: "Favourite",
        type: "favourite",
        ...times
      })
      // A row whose reason does not pass.
      yield* insert("favourites", { id: 33n, accountId: ada.id, statusId: idOf(777) })
      // One that ends before the delta.
      yield* insert("favourites", { id: 34n, accountId: ada.id, statusId: idOf(778) })

      const files = ["--media", mediaOf(from)]
      const first = yield* transferred(from, "copy", ...files)
      assert.match(first, /^11 rows were not copied/m)
      // The notification and the quote were read hours after the posts.
      yield* sql`UPDATE transfer_cursors SET begun_at = begun_at + interval '3 hours' WHERE step LIKE 'not%' OR step = 'quotes'`

      yield* from.person(nils, "nils")
      yield* insert("statuses", { id: post, accountId: ada.id, local: true, text: "late", ...times })
      yield* from.sql`DELETE FROM favourites WHERE id = 34`
      const output = yield* transferred(from, "delta", ...files)
      assert.match(output, /^favourites +1 new, 0 changed, 0 ended$/m)
      assert.match(output, /^1 rows were not copied/m)
      assert.deepStrictEqual(yield* rejected(from), ["favourites 33"])
      const [found] = yield* sql`SELECT
        (SELECT count(*)::int FROM follows WHERE id = 20) AS follows, (SELECT count(*)::int FROM blocks WHERE id = 21) AS blocks,
        (SELECT favourites_count FROM status_stats WHERE status_id = ${post}) AS favourites,
        (SELECT count(*)::int FROM bookmarks WHERE status_id = ${post}) AS bookmarks,
        (SELECT count(*)::int FROM status_pins WHERE status_id = ${post}) AS pins,
        (SELECT count(*)::int FROM list_accounts WHERE list_id = 25) AS members,
        (SELECT count(*)::int FROM poll_votes WHERE status_id = ${post}) AS votes,
        (SELECT media_ids FROM statuses WHERE id = ${post}) AS files,
        (SELECT count(*)::int FROM mentions WHERE status_id = ${idOf(9)}) AS mentions,
        (SELECT count(*)::int FROM quotes WHERE status_id = ${post}) AS quotes,
        (SELECT count(*)::int FROM notifications WHERE id = 32) AS notifications`
      assert.deepStrictEqual(found, {
        follows: 1,
        blocks: 1,
        favourites: 1,
        bookmarks: 1,
        pins: 1,
        members: 1,
        votes: 1,
        files: [idOf(29)],
        mentions: 1,
        quotes: 1,
        notifications: 1
      })

      yield* from.sql`DELETE FROM favourites WHERE id = 33`
      assert.match(yield* transferred(from, "delta", ...files), /^Every row was copied\.$/m)
      assert.isFalse(yield* fs.exists(`${from.folder}/rejects.tsv`), "the file of the run before")
    }))

  it.effect("F460: a delta brings an old post of another server that members favourited, boosted or answered since the copy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const { insert } = from
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      const ben = yield* from.person(idOf(101), "ben")
      const zoe = yield* from.stranger(idOf(102), "zoe")
      const old = [idOf(110), idOf(111), idOf(112), idOf(113)] as const
      for (const id of old) {
        yield* insert("statuses", {
          id,
          accountId: zoe.id,
          local: false,
          uri: `https://far.example/notes/${id}`,
          text: "old"
        })
      }
      yield* insert("statuses", { id: idOf(120), accountId: ben.id, local: true, text: "newest" })
      yield* transferred(from, "copy")
      const times = { createdAt: new Date(), updatedAt: new Date() }
      yield* insert("favourites", { id: 40n, accountId: ben.id, statusId: old[0], ...times })
      yield* insert("statuses", { id: idOf(121), accountId: ben.id, local: true, reblogOfId: old[1], ...times })
      yield* insert("statuses", {
        id: idOf(122),
        accountId: ben.id,
        local: true,
        text: "x",
        inReplyToId: old[2],
        ...times
      })
      yield* transferred(from, "delta")
      assert.deepStrictEqual(
        yield* sql`SELECT id FROM statuses WHERE account_id = ${zoe.id} ORDER BY id`,
        [{ id: old[0] }, { id: old[1] }, { id: old[2] }]
      )
      assert.deepStrictEqual(yield* sql`SELECT status_id FROM favourites WHERE account_id = ${ben.id}`, [{
        statusId: old[0]
      }])
      assert.deepStrictEqual(
        yield* sql`SELECT reblog_of_id, in_reply_to_id FROM statuses WHERE id > ${idOf(120)} ORDER BY id`,
        [{ reblogOfId: old[1], inReplyToId: null }, { reblogOfId: null, inReplyToId: old[2] }]
      )
    }))

  it.effect("F461: copies old boosts of local posts by other servers, and deletes no old post in the day after a run", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const { insert } = from
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      const cleo = yield* from.person(idOf(201), "cleo")
      const yan = yield* from.stranger(idOf(202), "yan")
      const at = new Date(Date.now() - yearMillis)
      yield* insert("statuses", { id: idOf(210), accountId: cleo.id, local: true, text: "popular", createdAt: at })
      yield* insert("statuses", {
        id: idOf(211),
        accountId: yan.id,
        local: false,
        uri: "https://far.example/boosts/1",
        reblogOfId: idOf(210),
        createdAt: at
      })
      yield* insert("account_statuses_cleanup_policies", { accountId: cleo.id, minReblogs: 1 })
      const dueIn = sql`SELECT round(extract(epoch FROM due_at - now()) / 3600)::int AS hours FROM agenda
        WHERE kind = 'post_cleanup' AND subject_id = ${cleo.id}`
      yield* transferred(from, "copy")
      assert.deepStrictEqual(yield* sql`SELECT reblogs_count FROM status_stats WHERE status_id = ${idOf(210)}`, [
        { reblogsCount: 1 }
      ])
      assert.deepStrictEqual(yield* dueIn, [{ hours: 24 }])
      yield* sql`UPDATE agenda SET due_at = now() - interval '1 hour' WHERE kind = 'post_cleanup'`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* dueIn, [{ hours: 24 }])
    }))
})
