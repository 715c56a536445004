import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const times = () => ({ createdAt: new Date(), updatedAt: new Date() })

layer(servers, { excludeTestServices: true })("posts that changed at a Mastodon server since the copy", (it) => {
  it.effect("F464: counts go down to zero, and polls follow their edits with their votes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const { insert } = from
      const [ada, ben] = [yield* from.person(idOf(1), "ada"), yield* from.person(idOf(2), "ben")]
      const post = idOf(10)
      const own = { accountId: ada.id, local: true, text: "post" }
      yield* insert("statuses", { id: post, ...own }, { id: idOf(11), ...own }, { id: idOf(12), ...own })
      yield* insert(
        "statuses",
        { id: idOf(13), accountId: ben.id, local: true, reblogOfId: post },
        { id: idOf(14), accountId: ben.id, local: true, text: "reply", inReplyToId: post },
        { id: idOf(15), accountId: ben.id, local: true, text: "quote" }
      )
      yield* insert("favourites", { id: 20n, accountId: ben.id, statusId: post })
      yield* insert("quotes", {
        id: 21n,
        accountId: ben.id,
        statusId: idOf(15),
        quotedStatusId: post,
        quotedAccountId: ada.id,
        state: 1
      })
      const poll = { accountId: ada.id, options: ["tea", "milk"], cachedTallies: [1n, 0n], votersCount: 1n }
      yield* insert("polls", { id: 31n, statusId: idOf(11), ...poll }, { id: 32n, statusId: idOf(12), ...poll })
      yield* insert(
        "poll_votes",
        { id: 33n, accountId: ben.id, pollId: 31n, choice: 0 },
        { id: 34n, accountId: ben.id, pollId: 32n, choice: 0 }
      )
      yield* transferred(from, "copy")
      const counts = sql`SELECT favourites_count, reblogs_count, replies_count, quotes_count FROM status_stats
        WHERE status_id = ${post}`
      assert.deepStrictEqual(yield* counts, [{ favouritesCount: 1, reblogsCount: 1, repliesCount: 1, quotesCount: 1 }])

      yield* from.sql`DELETE FROM favourites`
      yield* from.sql`UPDATE quotes SET state = 3, updated_at = ${new Date()}`
      yield* from.sql`DELETE FROM statuses WHERE id IN (${idOf(13)}, ${idOf(14)})`
      yield* from
        .sql`UPDATE polls SET options = ARRAY['juice', 'water'], cached_tallies = '{0,1}', multiple = true, hide_totals = true,
        updated_at = ${new Date()} WHERE id = 31`
      yield* from.sql`DELETE FROM poll_votes`
      yield* insert("poll_votes", { id: 35n, accountId: ada.id, pollId: 31n, choice: 1, ...times() })
      yield* from.sql`DELETE FROM polls WHERE id = 32`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* counts, [{ favouritesCount: 0, reblogsCount: 0, repliesCount: 0, quotesCount: 0 }])
      assert.deepStrictEqual(
        yield* sql`SELECT status_id, options, counts, multiple, hide_totals FROM polls ORDER BY status_id`,
        [{ statusId: idOf(11), options: ["juice", "water"], counts: [0, 1], multiple: true, hideTotals: true }]
      )
      assert.deepStrictEqual(yield* sql`SELECT status_id, account_id, choice FROM poll_votes`, [
        { statusId: idOf(11), accountId: ada.id, choice: 1 }
      ])
    }))

  it.effect("F465: an old remote reply that is quoted or reported keeps its parent, whichever comes first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const { insert } = from
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      const cleo = yield* from.person(idOf(101), "cleo")
      const zoe = yield* from.stranger(idOf(102), "zoe")
      const remote = (n: number, more: object = {}) => ({
        id: idOf(n),
        accountId: zoe.id,
        local: false,
        uri: `https://far.example/notes/${n}`,
        text: "old",
        ...more
      })
      yield* insert("statuses", { id: idOf(110), accountId: cleo.id, local: true, text: "parent here" })
      yield* insert(
        "statuses",
        // One parent is favourited, one is only reported, and one is not copied.
        remote(111),
        remote(112),
        remote(113),
        remote(120, { inReplyToId: idOf(110), inReplyToAccountId: cleo.id }),
        remote(121, { inReplyToId: idOf(111) }),
        remote(122, { inReplyToId: idOf(112) }),
        remote(123, { inReplyToId: idOf(113) })
      )
      yield* insert("favourites", { id: 40n, accountId: cleo.id, statusId: idOf(111) })
      yield* insert("statuses", { id: idOf(130), accountId: cleo.id, local: true, text: "quote" })
      yield* insert("quotes", {
        id: 41n,
        accountId: cleo.id,
        statusId: idOf(130),
        quotedStatusId: idOf(122),
        quotedAccountId: zoe.id,
        state: 1
      })
      yield* insert("reports", {
        id: 42n,
        accountId: cleo.id,
        targetAccountId: zoe.id,
        statusIds: [idOf(112), idOf(120), idOf(121), idOf(123)]
      })
      const parents = sql`SELECT id, in_reply_to_id, in_reply_to_uri FROM statuses
        WHERE id BETWEEN ${idOf(120)} AND ${idOf(123)} ORDER BY id`
      const expected = [
        { id: idOf(120), inReplyToId: idOf(110), inReplyToUri: null },
        { id: idOf(121), inReplyToId: idOf(111), inReplyToUri: null },
        { id: idOf(122), inReplyToId: idOf(112), inReplyToUri: null },
        { id: idOf(123), inReplyToId: null, inReplyToUri: "https://far.example/notes/113" }
      ]
      yield* transferred(from, "copy")
      assert.deepStrictEqual(yield* parents, expected)
      yield* from.sql`UPDATE statuses SET updated_at = ${new Date()}`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* parents, expected)
    }))
})
