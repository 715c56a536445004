import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { LiveImports } from "../../../src/services/transfers/live/LiveImports.ts"
import { SourceFailed } from "../../../src/services/transfers/live/LiveSources.ts"
import { TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { noteOf, postsOf } from "../../support/Archives.ts"
import { eventually } from "../../support/Eventually.ts"
import { account, actor, askingOnly, consented, liveServices, origin, run, sourceOf } from "../../support/LiveServer.ts"
import { retention } from "../../support/Retention.ts"
import { user } from "../../support/SignedIn.ts"

layer(liveServices, { excludeTestServices: true })("imports of accounts from their servers", (it) => {
  for (const when of ["before", "after"] as const) {
    it.effect(`a node that dies ${when} every step imports each post, file, follow, block and favourite once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* user(`mia_${when}`)
        const from = sourceOf(account(45))
        // Dies at every second step, so that the others make progress.
        const dies = (step: number, at: "before" | "after") => step % 2 === 1 && at === when
        const { id, planned } = yield* consented(from, owner, dies)
        assert.deepInclude(planned, { state: "unconfirmed", total: 45, problem: null })
        const imports = yield* LiveImports
        assert.deepInclude((yield* imports.open(planned)).options, { following: 2, blocked: 2, liked: 2 })
        yield* imports.confirm(owner, id, { withFollows: true, withBlocks: false, withLikes: true })
        const done = yield* run(from, owner, id, dies)
        assert.deepInclude(done, { state: "finished", added: 45, failed: 0 })
        assert.lengthOf(yield* postsOf(owner), 45)
        const files = yield* sql`SELECT FROM media_attachments WHERE account_id = ${owner}`
        assert.lengthOf(files, 23)
        const lists = yield* sql`SELECT t.kind, array_agg(l.name ORDER BY l.place) AS names FROM transfers t
          JOIN transfer_lines l ON l.transfer_id = t.id WHERE t.account_id = ${owner} GROUP BY t.kind ORDER BY t.kind`
        const names = ["https://a.example/u", "https://b.example/u"]
        assert.deepStrictEqual(lists, [{ kind: "favourites", names }, { kind: "follows", names }])
        assert.include(from.asked, "revoked")
        assert.notInclude(JSON.stringify(done.options), "secrets")
        yield* sql`UPDATE transfers SET state = 'cancelled' WHERE account_id = ${owner}`
      }))
  }

  it.effect("a busy server is retried later, and given up after many attempts; no secret remains, and its token is revoked", () =>
    Effect.gen(function*() {
      const owner = yield* user("ben")
      let failures = 0
      const busy = () => failures-- > 0 ? new SourceFailed({ problem: "silent", retrySeconds: 5 }) : undefined
      const from = sourceOf(account(5), busy)
      failures = 3
      const { id, planned } = yield* consented(from, owner)
      assert.deepInclude(planned, { state: "unconfirmed", total: 5 })
      yield* Effect.gen(function*() {
        yield* (yield* LiveImports).cancel(owner, id)
        yield* eventually(
          Effect.map(Transfers.use((transfers) => transfers.find(owner, id)), ({ options }) => JSON.stringify(options)),
          (options) => !options.includes("secrets")
        )
        assert.lengthOf(from.asked.filter((url) => url === "revoked"), 1)
      }).pipe(Effect.provide(askingOnly(from.service)))
      failures = 1_000
      const imports = yield* LiveImports
      const again = yield* imports.begin(owner, actor)
      const failed = yield* run(from, owner, again.id)
      assert.deepInclude(failed, { state: "failed", problem: "silent" })
      assert.isBelow(1_000 - failures, 30)
    }))

  it.effect("F318: the token of an import that nobody confirmed, or that was interrupted, is revoked", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [owner, other] = [yield* user("eva"), yield* user("eli")]
      const from = sourceOf(account(5))
      const { id } = yield* consented(from, owner)
      const round = Effect.gen(function*() {
        yield* (yield* LiveImports).endAbandoned
        return from.asked.filter((url) => url === "revoked").length
      }).pipe(Effect.provide(askingOnly(from.service)))
      assert.strictEqual(yield* round, 0, "it can still be confirmed")
      const past = new Date(0)
      yield* sql`UPDATE transfers SET expires_at = ${past} WHERE id = ${id}`
      // Old transfers are not deleted while they have a token.
      yield* Effect.provide(Effect.flatMap(Retention, ({ sweep }) => sweep), retention)
      assert.strictEqual(yield* round, 1)
      const ended = yield* (yield* Transfers).find(owner, id)
      assert.deepStrictEqual([ended.state, JSON.stringify(ended.options).includes("secrets")], ["cancelled", false])

      const { id: second } = yield* consented(from, other)
      yield* sql`UPDATE transfers SET state = 'scheduled', due_at = ${past}, tries = 10 WHERE id = ${second}`
      yield* (yield* TransferQueue).claim(1)
      assert.strictEqual((yield* (yield* Transfers).find(other, second)).problem, "interrupted")
      assert.strictEqual(yield* round, 2)
      assert.notInclude(JSON.stringify((yield* (yield* Transfers).find(other, second)).options), "secrets")
      assert.strictEqual(yield* round, 2)
    }))

  it.effect("a server that keeps favourites to itself lets all else be imported", () =>
    Effect.gen(function*() {
      const owner = yield* user("dan")
      const others = Object.fromEntries(Object.entries(account(3)).filter(([url]) => !url.startsWith(`${actor}/liked`)))
      const { planned } = yield* consented(sourceOf(others), owner)
      assert.deepInclude(planned, { state: "unconfirmed", total: 3, problem: null })
      assert.deepInclude((yield* (yield* LiveImports).open(planned)).options, { following: 2, blocked: 2, liked: 0 })
      yield* (yield* Transfers).cancel(owner, planned.id)
    }))

  it.effect("posts of others and of other servers are left out, and a revoked consent fails the import", () =>
    Effect.gen(function*() {
      const owner = yield* user("cat")
      const foreign = [
        { ...noteOf(actor, 100).object, id: "https://evil.example/1" },
        { ...noteOf(actor, 101).object, attributedTo: `${origin}/users/bob` },
        noteOf(`${origin}/users/bob`, 102),
        { type: "Note", id: `${actor}/statuses/undated`, attributedTo: actor, to: [], content: "x" },
        "https://old.example/only-an-id",
        null
      ]
      const from = sourceOf(account(3, foreign))
      const { id, planned } = yield* consented(from, owner)
      const imports = yield* LiveImports
      const { options } = yield* imports.open(planned)
      assert.deepInclude(options.plan, { posts: 3, foreign: 3, unreadable: 1 })
      yield* (yield* Transfers).cancel(owner, id)
      const refusing = sourceOf({})
      assert.deepInclude((yield* consented(refusing, owner)).planned, { state: "failed", problem: "no_consent" })
      // The token would otherwise still give access.
      assert.include(refusing.asked, "revoked")
    }))

  it.effect("F290: no post or file replaces another, and a text may contain a JSON escape", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("fae")
      const published = new Date(Date.UTC(2019, 0, 1)).toISOString()
      const pictured = (n: number, url: string) =>
        noteOf(actor, n, { published, attachment: [{ type: "Image", mediaType: "image/png", url }] }).object
      const pages = [
        ["no object", pictured(1, `${origin}/m?id=1`), pictured(2, `${origin}/m?id=2`)],
        [
          pictured(3, "https://cdn.example/m"),
          noteOf(actor, 4, { published, content: "<p>\\u0000 ends it</p>" }).object
        ]
      ]
      const from = sourceOf({
        ...account(0),
        [`${actor}/migration`]: { type: "OrderedCollection", first: `${actor}/migration?0` },
        ...Object.fromEntries(pages.map((orderedItems, at) => [`${actor}/migration?${at}`, {
          type: "OrderedCollectionPage",
          orderedItems,
          ...(at === 0 ? { next: `${actor}/migration?1` } : {})
        }]))
      })
      const { id, planned } = yield* consented(from, owner)
      const imports = yield* LiveImports
      assert.deepInclude((yield* imports.open(planned)).options.plan, { posts: 4, files: 3, unreadable: 0 })
      yield* imports.confirm(owner, id, { withFollows: false, withBlocks: false, withLikes: false })
      assert.deepInclude(yield* run(from, owner, id), { state: "finished", added: 4, failed: 0 })
      const files = yield* sql`SELECT DISTINCT status_id FROM media_attachments WHERE account_id = ${owner}`
      assert.lengthOf(files, 3)
      const read = from.asked.filter((url) => /\/m(?:\?|$)/.test(url))
      assert.sameMembers(read, [`${origin}/m?id=1`, `${origin}/m?id=2`, "https://cdn.example/m"])
      const texts = yield* sql`SELECT text FROM statuses WHERE account_id = ${owner} AND text LIKE '%ends it'`
      assert.deepStrictEqual(texts, [{ text: "\\u0000 ends it" }])
    }))
})
