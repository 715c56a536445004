import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers, settled } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const actorOf = ({ username }: Person) =>
  TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/${username}`))
const notifications = (by: Person) =>
  Effect.map(
    json(by, "/api/v1/notifications"),
    (all: ReadonlyArray<{ type: string; account: { acct: string } }>) =>
      all.map(({ account, type }) => `${type} ${account.acct.split("@")[0]}`)
  )
const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ count: number }>`SELECT count(*)::int AS count FROM ${sql(table)}`)
    .pipe(Effect.map(([row]) => row?.count))

layer(servers, { excludeTestServices: true })("the inbox", (it) => {
  it.effect("S-009: a follow, a like, a boost and a reply arrive, are notified, and are undone", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const me = yield* actorOf(anna)
      const status = yield* publish(anna, "hello")
      const follow = { type: "Follow", object: me }
      const like = { type: "Like", object: status.uri }
      const boost = { type: "Announce", object: status.uri, to: ["https://www.w3.org/ns/activitystreams#Public"] }
      assert.strictEqual(yield* send(zoe, follow, "/users/anna/inbox"), 202)
      assert.strictEqual(yield* settled, "done")
      assert.strictEqual(yield* deliverFrom(zoe, like), "done")
      assert.strictEqual(yield* deliverFrom(zoe, boost), "done")
      const reply = note(zoe, "reply", { inReplyTo: status.uri, tag: [{ type: "Mention", href: me }], cc: [me] })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: reply }), "done")
      assert.sameMembers(yield* notifications(anna), ["follow zoe", "favourite zoe", "reblog zoe", "mention zoe"])
      assert.deepInclude(yield* json(anna, `/api/v1/statuses/${status.id}`), {
        favourites_count: 1,
        reblogs_count: 1,
        replies_count: 1
      })
      assert.strictEqual((yield* json(anna, "/api/v1/accounts/verify_credentials")).followers_count, 1)
      const { descendants } = yield* json(anna, `/api/v1/statuses/${status.id}/context`)
      assert.deepStrictEqual(descendants.map(({ content }: { content: string }) => content), ["<p>reply</p>"])
      for (const object of [follow, like, boost]) {
        assert.strictEqual(yield* deliverFrom(zoe, { type: "Undo", object }), "done")
      }
      assert.strictEqual(
        yield* deliverFrom(zoe, { type: "Delete", object: { id: reply["id"], type: "Tombstone" } }),
        "done"
      )
      assert.deepInclude(yield* json(anna, `/api/v1/statuses/${status.id}`), {
        favourites_count: 0,
        reblogs_count: 0,
        replies_count: 0
      })
      assert.strictEqual((yield* json(anna, "/api/v1/accounts/verify_credentials")).followers_count, 0)
      assert.isEmpty(yield* notifications(anna))
    }))

  it.effect("posts reach followers' homes, sanitised; posts that concern no local account are dropped", () =>
    Effect.gen(function*() {
      const [ben, yan] = [yield* newPerson("ben"), yield* there("yan")]
      assert.strictEqual(
        yield* deliverFrom(yan, { type: "Create", object: note(yan, "before") }),
        "ignored: irrelevant to local accounts"
      )
      // A local follow is pending until its target accepts it, and only the target can (row 16).
      const [found] = yield* json(
        ben,
        `/api/v1/accounts/search?q=${encodeURIComponent(`yan@${(yield* OtherServer).domain}`)}`
      )
      yield* json(ben, `/api/v1/accounts/${found.id}/follow`, undefined, "POST")
      const request = { type: "Follow", actor: yield* actorOf(ben), object: yan.id }
      const other = yield* there("xaver")
      assert.match((yield* deliverFrom(other, { type: "Accept", object: request })) ?? "", /^ignored/)
      assert.match(
        (yield* deliverFrom(other, { type: "Accept", object: { ...request, object: other.id } })) ?? "",
        /^ignored/
      )
      assert.isFalse((yield* json(ben, `/api/v1/accounts/relationships?id=${found.id}`))[0].following)
      assert.strictEqual(yield* deliverFrom(yan, { type: "Accept", object: request }), "done")
      assert.match((yield* deliverFrom(yan, { type: "Accept", object: request })) ?? "", /^ignored/)
      assert.isTrue((yield* json(ben, `/api/v1/accounts/relationships?id=${found.id}`))[0].following)
      const content = "<p onclick=\"x()\">hi <script>alert(1)</script><a href=\"javascript:x()\">link</a></p>"
      yield* deliverFrom(yan, {
        type: "Create",
        object: note(yan, "clean", { content, summary: "careful", sensitive: true })
      })
      const [top] = yield* json(ben, "/api/v1/timelines/home")
      assert.deepInclude(top, {
        spoiler_text: "careful",
        sensitive: true,
        visibility: "public",
        uri: `${yan.id}/notes/clean`
      })
      assert.notMatch(top.content, /script|onclick|javascript/)
      assert.strictEqual(yield* deliverFrom(yan, { type: "Reject", object: request }), "done")
      assert.isFalse((yield* json(ben, `/api/v1/accounts/relationships?id=${found.id}`))[0].following)
    }))

  it.effect("an edit changes its sender's post once, keeps the previous version, and never reverts", () =>
    Effect.gen(function*() {
      const [hal, vic] = [yield* newPerson("hal"), yield* there("vic")]
      const me = yield* actorOf(hal)
      const mention = { cc: [me], tag: [{ type: "Mention", href: me }] }
      const at = (minutes: number) => new Date(Date.now() + (minutes - 60) * 60_000).toISOString()
      const version = (minutes: number, content: string) => ({
        type: "Update",
        object: note(vic, "edited", { ...mention, published: at(0), updated: at(minutes), content })
      })
      yield* deliverFrom(vic, { type: "Create", object: note(vic, "edited", { ...mention, published: at(0) }) })
      assert.strictEqual(yield* deliverFrom(vic, version(20, "<p>two<script>x</script></p>")), "done")
      assert.match((yield* deliverFrom(vic, version(10, "<p>one</p>"))) ?? "", /^ignored/)
      const [{ status }] = yield* json(hal, "/api/v1/notifications")
      assert.strictEqual(status.content, "<p>two</p>")
      const history: ReadonlyArray<{ content: string }> = yield* json(hal, `/api/v1/statuses/${status.id}/history`)
      assert.deepStrictEqual(history.map(({ content }) => content), ["<p>edited</p>", "<p>two</p>"])
      assert.deepStrictEqual(yield* notifications(hal), ["mention vic"])
    }))

  it.effect("row 78, I7: each activity takes effect once, however often and at whatever inbox it arrives", () =>
    Effect.gen(function*() {
      const [cleo, will] = [yield* newPerson("cleo"), yield* there("will")]
      const me = yield* actorOf(cleo)
      const before = yield* count("inbound_activities")
      const text = JSON.stringify({
        "@context": ["https://www.w3.org/ns/activitystreams"],
        id: `${will.id}/once`,
        type: "Create",
        actor: will.id,
        object: note(will, "once", { tag: [{ type: "Mention", href: me }], cc: [me] })
      })
      const sent = Array.from(
        { length: 50 },
        (_, n) => sendBody(will, text, n % 2 === 0 ? "/inbox" : "/users/cleo/inbox")
      )
      for (const status of yield* Effect.all(sent, { concurrency: 10 })) assert.strictEqual(status, 202)
      assert.strictEqual(yield* settled, "done")
      assert.strictEqual(((yield* count("inbound_activities")) ?? 0) - (before ?? 0), 1)
      assert.deepStrictEqual(yield* notifications(cleo), ["mention will"])
      // A post repeated in other activities is the same post.
      assert.strictEqual(
        yield* deliverFrom(will, {
          type: "Create",
          object: note(will, "once", { cc: [me], tag: [{ type: "Mention", href: me }] })
        }),
        "ignored: already stored"
      )
    }))

  it.effect("row 10: a deleted object does not return, in either order of arrival", () =>
    Effect.gen(function*() {
      const [dora, vera] = [yield* newPerson("dora"), yield* there("vera")]
      const me = yield* actorOf(dora)
      const mention = { cc: [me], tag: [{ type: "Mention", href: me }] }
      const [late, early] = [note(vera, "late", mention), note(vera, "early", mention)]
      yield* deliverFrom(vera, { type: "Create", object: late })
      yield* deliverFrom(vera, { type: "Delete", object: late["id"] })
      yield* deliverFrom(vera, { type: "Delete", object: { type: "Tombstone", id: early["id"] } })
      for (const object of [late, early]) {
        assert.match((yield* deliverFrom(vera, { type: "Create", object })) ?? "", /^ignored/)
      }
      assert.isEmpty(yield* notifications(dora))
    }))

  it.effect("row 8: activities cannot change another account's objects", () =>
    Effect.gen(function*() {
      const [emil, uwe, thief] = [yield* newPerson("emil"), yield* there("uwe"), yield* there("thief")]
      const me = yield* actorOf(emil)
      const mention = { cc: [me], tag: [{ type: "Mention", href: me }] }
      const status = yield* publish(emil, "mine")
      yield* deliverFrom(uwe, { type: "Create", object: note(uwe, "his", mention) })
      yield* deliverFrom(uwe, { type: "Like", object: status.uri })
      yield* deliverFrom(uwe, { type: "Follow", object: me })
      const before = [
        yield* count("statuses"),
        yield* count("favourites"),
        yield* count("follows"),
        yield* notifications(emil)
      ]
      const his = `${uwe.id}/notes/his`
      const undo = (type: string, object: string) => ({ type: "Undo", object: { type, actor: uwe.id, object } })
      const attempts = [
        { type: "Delete", object: his },
        { type: "Delete", object: status.uri },
        { type: "Delete", object: { type: "Tombstone", id: his } },
        { type: "Update", object: { ...note(uwe, "his", mention), content: "changed" } },
        { type: "Create", object: note(uwe, "new", mention) },
        { type: "Create", object: `${uwe.id}/notes/his` },
        { type: "Create", object: { ...note(thief, "his", mention), id: his } },
        { type: "Create", object: { ...note(thief, "far", mention), id: "https://elsewhere.test/1" } },
        { type: "Create", actor: uwe.id, object: note(uwe, "forged", mention) },
        { type: "Accept", object: { type: "Follow", actor: me, object: uwe.id } },
        { type: "Reject", object: { type: "Follow", actor: me, object: uwe.id } },
        undo("Like", status.uri),
        undo("Follow", me)
      ]
      // Deleting an unknown object does not block its later arrival.
      yield* deliverFrom(thief, { type: "Delete", object: `${uwe.id}/notes/next` })
      for (const attempt of attempts) {
        assert.match((yield* deliverFrom(thief, attempt)) ?? "", /^ignored/, JSON.stringify(attempt))
      }
      assert.deepStrictEqual(
        [yield* count("statuses"), yield* count("favourites"), yield* count("follows"), yield* notifications(emil)],
        before
      )
      assert.strictEqual(yield* deliverFrom(uwe, { type: "Create", object: note(uwe, "next", mention) }), "done")
    }))

  it.effect("row 59: a mention without addressing is not notified, and a direct post is visible to its addressees", () =>
    Effect.gen(function*() {
      const [fay, gil, tom] = [yield* newPerson("fay"), yield* newPerson("gil"), yield* there("tom")]
      yield* acceptPrivateMentions(fay, gil)
      const [me, other] = [yield* actorOf(fay), yield* actorOf(gil)]
      const tag = [me, other].map((href) => ({ type: "Mention", href }))
      yield* deliverFrom(tom, { type: "Create", object: note(tom, "whisper", { to: [me], cc: [], tag }) })
      assert.deepStrictEqual(yield* notifications(fay), ["mention tom"])
      assert.isEmpty(yield* notifications(gil))
      const [{ status }] = yield* json(fay, "/api/v1/notifications")
      assert.strictEqual(status.visibility, "direct")
      assert.strictEqual((yield* json(gil, `/api/v1/statuses/${status.id}`)).error, "Record not found")
    }))
})
