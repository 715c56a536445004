import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually, respond } from "./Exchange.ts"
import { actorOf, mentioning, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers, settled } from "./Sending.ts"

const began = Date.now() - 60_000

/** Records the activities of a type in Zoe's inbox. */
const delivered = Effect.map(
  Effect.sync((): Array<Json> => []),
  (got) => ({
    got,
    listen: respond("/users/zoe/inbox", (request, response) => {
      let text = ""
      request.on("data", (part) => text += String(part))
      request.on("end", () => {
        got.push(JSON.parse(text))
        response.writeHead(202).end()
      })
    })
  })
)

layer(servers, { excludeTestServices: true })("repeated activities", (it) => {
  it.effect("row 78, F18: a follow under the same id counts again after its end, but copies signed earlier do not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const { got, listen } = yield* delivered
      yield* listen
      const accepts = (count: number) =>
        eventually(Effect.sync(() => got.filter(({ type }) => type === "Accept").length === count || undefined))
      const me = yield* actorOf(anna)
      const head = { "@context": "https://www.w3.org/ns/activitystreams", actor: zoe.id }
      const follow = { ...head, id: `${zoe.id}/follows/anna`, type: "Follow", object: me }
      /** Sends the activity, signed this many seconds after the start; returns true if Zoe then follows Anna. */
      const after = Effect.fnUntraced(function*(activity: Json, seconds: number) {
        assert.strictEqual(yield* sendBody(zoe, JSON.stringify(activity), "/inbox", began + seconds * 1_000), 202)
        yield* settled
        return (yield* sql`SELECT FROM follows WHERE target_account_id = ${anna.accountId}`).length === 1
      })
      assert.isTrue(yield* after(follow, 0))
      yield* accepts(1)
      // A copy has no effect and gets no response; a new attempt gets the response again.
      assert.isTrue(yield* after(follow, 0))
      assert.isTrue(yield* after(follow, 2))
      yield* accepts(2)
      assert.deepStrictEqual(yield* told(anna), ["follow zoe"])

      assert.isFalse(yield* after({ ...head, id: `${zoe.id}/undo/1`, type: "Undo", object: follow }, 10))
      // Copies, and a late attempt, are older than the end.
      for (const seconds of [0, 2, 5, 9]) assert.isFalse(yield* after(follow, seconds), String(seconds))
      assert.isTrue(yield* after(follow, 12))
      yield* accepts(3)
      assert.isFalse(yield* after({ ...head, id: `${zoe.id}/undo/2`, type: "Undo", object: follow.id }, 14))
      assert.isFalse(yield* after(follow, 13))
      assert.isTrue(yield* after(follow, 16))

      // The target can also end it.
      const [{ account }] = yield* json(anna, "/api/v1/notifications")
      yield* json(anna, `/api/v1/accounts/${account.id}/remove_from_followers`, {})
      for (const seconds of [0, 12, 16]) assert.isFalse(yield* after(follow, seconds), String(seconds))
      assert.isTrue(yield* after(follow, 20))
      // Repeats of other activities under the same id have no effect.
      const report = { ...head, id: `${zoe.id}/reports/1`, type: "Flag", object: me }
      yield* after(report, 0)
      const count = sql`SELECT count(*)::int AS n FROM inbound_activities WHERE outcome IS NULL`
      const before = yield* sql`SELECT id FROM inbound_activities ORDER BY id`
      yield* after(report, 30)
      assert.deepStrictEqual(yield* sql`SELECT id FROM inbound_activities ORDER BY id`, before)
      assert.deepStrictEqual(yield* count, [{ n: 0 }])
    }))

  it.effect("S-011: different edits under one id, as GoToSocial sends them, all count; a repeated one does not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, yan] = [yield* newPerson("anya"), yield* there("yan")]
      const written = note(yan, "versions", {
        published: new Date(began).toISOString(),
        ...mentioning(yield* actorOf(anna))
      })
      yield* deliverFrom(yan, { type: "Create", object: written })
      const edit = (version: number): Json => ({
        id: `${written.id}/activity#Update`,
        type: "Update",
        object: {
          ...written,
          content: `<p>version ${version}</p>`,
          updated: new Date(began + version * 1_000).toISOString()
        }
      })
      const text = Effect.map(
        sql<{ content: string }>`SELECT html AS content FROM statuses WHERE uri = ${written.id}`,
        ([row]) => row?.content
      )
      for (const version of [1, 2, 3]) {
        yield* deliverFrom(yan, edit(version))
        assert.strictEqual(yield* text, `<p>version ${version}</p>`)
      }
      const count = sql`SELECT count(*)::int AS n FROM inbound_activities`
      const before = yield* count
      assert.strictEqual(yield* send(yan, edit(3)), 202)
      yield* settled
      assert.deepStrictEqual(yield* count, before)
    }))

  it.effect("S-011: edits with the same second as their time, from servers without fractions, count in order of arrival", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, wim] = [yield* newPerson("anouk"), yield* there("wim")]
      const written = note(wim, "hasty", {
        published: "2026-02-03T04:05:06Z",
        updated: "2026-02-03T04:05:06Z",
        ...mentioning(yield* actorOf(anna))
      })
      yield* deliverFrom(wim, { type: "Create", object: written })
      const versions = Effect.map(
        sql<{ html: string }>`SELECT e.html FROM status_edits e JOIN statuses s ON s.id = e.status_id
            WHERE s.uri = ${written.id} ORDER BY e.id`,
        (rows) => rows.map(({ html }) => html)
      )
      const edited = (content: string) => deliverFrom(wim, { type: "Update", object: { ...written, content } })
      assert.strictEqual(yield* edited("<p>second</p>"), "done")
      assert.strictEqual(yield* edited("<p>third</p>"), "done")
      // An edit with the same content is ignored.
      assert.match((yield* edited("<p>third</p>")) ?? "", /^ignored/)
      const before = { ...written, content: "<p>older</p>", updated: "2026-02-03T04:05:05Z" }
      assert.match((yield* deliverFrom(wim, { type: "Update", object: before })) ?? "", /^ignored/)
      const [row] = yield* sql`SELECT html FROM statuses WHERE uri = ${written.id}`
      assert.deepStrictEqual(row, { html: "<p>third</p>" })
      assert.deepStrictEqual(yield* versions, ["<p>hasty</p>", "<p>second</p>", "<p>third</p>"])
    }))

  it.effect("S-011: an activity without an id, like Mastodon's pins, counts again when it is signed later", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const featured = `${(yield* OtherServer).url}/users/xia/featured`
      const [anna, xia] = [yield* newPerson("annika"), yield* there("xia", { featured })]
      const written = note(xia, "pinned", { ...mentioning(yield* actorOf(anna)) })
      yield* deliverFrom(xia, { type: "Create", object: written })
      const change = Effect.fnUntraced(function*(type: string, seconds: number) {
        const activity = {
          "@context": "https://www.w3.org/ns/activitystreams",
          type,
          actor: xia.id,
          object: written.id,
          target: featured
        }
        assert.strictEqual(yield* sendBody(xia, JSON.stringify(activity), "/inbox", began + seconds * 1_000), 202)
        yield* settled
        return (yield* sql`SELECT FROM status_pins p JOIN statuses s ON s.id = p.status_id WHERE s.uri = ${written.id}`)
          .length
      })
      assert.strictEqual(yield* change("Add", 0), 1)
      assert.strictEqual(yield* change("Remove", 2), 0)
      // A copy of an earlier activity.
      assert.strictEqual(yield* change("Add", 0), 0)
      assert.strictEqual(yield* change("Add", 4), 1)
      assert.strictEqual(yield* change("Remove", 6), 0)
    }))
})
