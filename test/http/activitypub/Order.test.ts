import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import type { Person } from "../../support/Server.ts"
import { actorOf, found, mentioning, received, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, send, servers, settled } from "./Sending.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"
const figures = Effect.fnUntraced(function*(by: Person, { id }: { id: string }) {
  const { favourites_count, reblogs_count, replies_count } = yield* json(by, `/api/v1/statuses/${id}`)
  return [favourites_count, reblogs_count, replies_count]
})
/** Counts the rows that the counters must match. */
const rows = ({ id }: { id: string }) =>
  SqlClient.SqlClient.use((sql) =>
    sql<{ counts: ReadonlyArray<number> }>`SELECT ARRAY[
      (SELECT count(*)::int FROM favourites WHERE status_id = ${id}),
      (SELECT count(*)::int FROM statuses WHERE reblog_of_id = ${id} AND deleted_at IS NULL),
      (SELECT count(*)::int FROM statuses WHERE in_reply_to_id = ${id} AND deleted_at IS NULL)] AS counts`
  ).pipe(Effect.map(([row]) => row?.counts))

layer(servers, { excludeTestServices: true })("activities in any order and number", (it) => {
  it.effect("I9, I12, F17: a like, boost or reply repeated under other ids counts once and is notified once", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const status = yield* publish(anna, "hello")
      const me = yield* actorOf(anna)
      const reply = note(zoe, "reply", { ...mentioning(me), inReplyTo: status.uri })
      const all = [
        { type: "Like", object: status.uri },
        { type: "Announce", object: status.uri, to: [everybody] },
        { type: "Create", object: reply },
        { type: "Follow", object: me }
      ]
      const sent = Array.from({ length: 5 }, () => all).flat()
      yield* Effect.all(sent.map((activity) => send(zoe, activity)), { concurrency: 8 })
      yield* settled
      assert.deepStrictEqual(yield* figures(anna, status), [1, 1, 1])
      assert.deepStrictEqual(yield* rows(status), [1, 1, 1])
      assert.sameMembers(yield* told(anna), ["favourite zoe", "reblog zoe", "mention zoe", "follow zoe"])
      for (let again = 0; again < 2; again++) {
        for (const object of [all[0], all[1], all[3]]) yield* send(zoe, { type: "Undo", object })
        yield* send(zoe, { type: "Delete", object: reply["id"] })
      }
      yield* settled
      assert.deepStrictEqual([yield* figures(anna, status), yield* rows(status)], [[0, 0, 0], [0, 0, 0]])
    }))

  it.effect("I12: a reply to a deleted post does not count for it", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anette"), yield* there("zara")]
      const status = yield* publish(anna, "hello")
      yield* json(anna, `/api/v1/statuses/${status.id}`, {}, "DELETE")
      const reply = note(zoe, "late", { ...mentioning(yield* actorOf(anna)), inReplyTo: status.uri })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: reply }), "done")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        yield* sql`SELECT replies_count FROM status_stats WHERE status_id = ${status.id}`,
        [{ repliesCount: 0 }]
      )
    }))

  it.effect("F17: a late undo of an earlier follow or boost keeps the later one", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("annika"), yield* there("zita")]
      const status = yield* publish(anna, "hello")
      const me = yield* actorOf(anna)
      const doing = (type: string, object: string, n: number): Json => ({
        id: `${zoe.id}/${type}/${n}`,
        type,
        actor: zoe.id,
        object,
        to: [everybody]
      })
      for (const [type, object] of [["Follow", me], ["Announce", status.uri]] as const) {
        const [first, second] = [doing(type, object, 1), doing(type, object, 2)]
        yield* deliverFrom(zoe, first)
        yield* deliverFrom(zoe, second)
        assert.include(yield* deliverFrom(zoe, { type: "Undo", object: first }), "superseded by a later activity")
        const row = Effect.map(rows(status), (counts) => counts?.[1])
        const sql = yield* SqlClient.SqlClient
        const left = type === "Announce" ? row : Effect.map(
          sql`SELECT FROM follows WHERE target_account_id = ${anna.accountId}`,
          ({ length }) => length
        )
        assert.strictEqual(yield* left, 1)
        yield* deliverFrom(zoe, { type: "Undo", object: second })
        assert.strictEqual(yield* left, 0)
        // Repeats this with the id alone.
        const [third, fourth] = [doing(type, object, 3), doing(type, object, 4)]
        yield* deliverFrom(zoe, third)
        yield* deliverFrom(zoe, fourth)
        yield* deliverFrom(zoe, { type: "Undo", object: third.id })
        assert.strictEqual(yield* left, 1)
        yield* deliverFrom(zoe, { type: "Undo", object: fourth.id })
        assert.strictEqual(yield* left, 0)
        const responses = yield* sql`SELECT DISTINCT uri FROM outgoing_activities
          WHERE type = 'Accept' AND sender_id = ${anna.accountId}`
        assert.strictEqual(responses.length, 4, "each follow is accepted under an id of its own")
      }
    }))

  it.effect("F17: an activity undone before it arrives has no effect, and only its actor can undo it", () =>
    Effect.gen(function*() {
      const [ben, yan, thief] = [yield* newPerson("ben"), yield* there("yan"), yield* there("thief")]
      const status = yield* publish(ben, "hello")
      const me = yield* actorOf(ben)
      const activity = (type: string, object: string): Json => ({
        id: `${yan.id}/${type}`,
        type,
        actor: yan.id,
        object,
        to: [everybody]
      })
      const all = [
        activity("Like", status.uri),
        activity("Announce", status.uri),
        activity("Follow", me),
        activity("Block", me)
      ]
      for (const object of all) {
        assert.match(
          (yield* deliverFrom(thief, { type: "Undo", object: { ...object, actor: thief.id } })) ?? "",
          /^ignored/
        )
        assert.match((yield* deliverFrom(thief, { type: "Undo", object: object["id"] })) ?? "", /^ignored/)
        assert.match((yield* deliverFrom(yan, { type: "Undo", object })) ?? "", /^ignored/)
        assert.match((yield* deliverFrom(yan, object)) ?? "", /^ignored/, String(object["type"]))
      }
      assert.deepStrictEqual([yield* figures(ben, status), yield* told(ben)], [[0, 0, 0], []])
      assert.strictEqual(yield* deliverFrom(yan, { type: "Like", object: status.uri }), "done")
      // A boost is found by its id alone.
      const boost = { ...activity("Announce", status.uri), id: `${yan.id}/boost` }
      yield* deliverFrom(yan, boost)
      assert.match((yield* deliverFrom(thief, { type: "Undo", object: boost.id })) ?? "", /^ignored/)
      assert.deepStrictEqual(yield* figures(ben, status), [1, 1, 0])
      assert.strictEqual(yield* deliverFrom(yan, { type: "Undo", object: boost.id }), "done")
      assert.deepStrictEqual(yield* figures(ben, status), [1, 0, 0])
    }))

  it.effect("F17: an edit that arrives before its post creates the post; an outdated edit is ignored", () =>
    Effect.gen(function*() {
      const [cleo, xeno] = [yield* newPerson("cleo"), yield* there("xeno")]
      const me = yield* actorOf(cleo)
      const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
      const first = note(xeno, "n", { ...mentioning(me), published: ago(30) })
      const second = { ...first, content: "<p>two</p>", updated: ago(20) }
      assert.strictEqual(yield* deliverFrom(xeno, { type: "Update", object: second }), "done")
      assert.match((yield* deliverFrom(xeno, { type: "Create", object: first })) ?? "", /^ignored/)
      assert.match((yield* deliverFrom(xeno, { type: "Update", object: second })) ?? "", /^ignored/)
      const status = yield* received(cleo)
      assert.strictEqual(status.content, "<p>two</p>")
      assert.isNotNull(status.edited_at)
      const third = { ...first, content: "<p>three</p>", updated: ago(10) }
      assert.strictEqual(yield* deliverFrom(xeno, { type: "Update", object: third }), "done")
      const history: ReadonlyArray<{ content: string }> = yield* json(cleo, `/api/v1/statuses/${status.id}/history`)
      assert.deepStrictEqual(history.map(({ content }) => content), ["<p>two</p>", "<p>three</p>"])
      const old = note(xeno, "old", { ...mentioning(me), published: ago(25 * 60), updated: ago(1) })
      assert.match((yield* deliverFrom(xeno, { type: "Update", object: old })) ?? "", /^ignored/)
    }))

  it.effect("row 16: an Accept or Reject counts for the current follow, also by its id, and can be undone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [dora, will] = [yield* newPerson("dora"), yield* there("will")]
      const me = yield* actorOf(dora)
      const { id } = yield* found(dora, "will")
      const follow = { id: `${me}#follows/1`, type: "Follow", actor: me, object: will.id }
      const relation = Effect.map(json(dora, `/api/v1/accounts/relationships?id=${id}`), ([one]) => [
        one.following,
        one.requested
      ])
      yield* json(dora, `/api/v1/accounts/${id}/follow`, {})
      yield* json(dora, `/api/v1/accounts/${id}/unfollow`, {})
      assert.match((yield* deliverFrom(will, { type: "Accept", object: follow })) ?? "", /^ignored/)
      assert.deepStrictEqual(yield* relation, [false, false])
      yield* json(dora, `/api/v1/accounts/${id}/follow`, {})
      assert.strictEqual(yield* deliverFrom(will, { type: "Accept", object: follow.id }), "done")
      assert.deepStrictEqual(yield* relation, [true, false])
      assert.strictEqual(yield* deliverFrom(will, { type: "Reject", object: { ...follow, id: undefined } }), "done")
      assert.deepStrictEqual(yield* relation, [false, false])
      yield* json(dora, `/api/v1/accounts/${id}/follow`, {})
      const [again] = yield* sql<{ uri: string }>`SELECT uri FROM follow_requests WHERE account_id = ${dora.accountId}`
      const accept = { type: "Accept", object: { ...follow, id: again?.uri } }
      yield* deliverFrom(will, accept)
      assert.strictEqual(yield* deliverFrom(will, { type: "Undo", object: accept }), "done")
      assert.deepStrictEqual(yield* relation, [false, false])
    }))

  it.effect("F44: a follow ended by the other server is also undone there, which may have accepted a later one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ella, wim] = [yield* newPerson("ella"), yield* there("wim")]
      const me = yield* actorOf(ella)
      const { id } = yield* found(ella, "wim")
      const undone = Effect.map(
        sql<{ uri: string }>`SELECT uri FROM outgoing_activities
          WHERE type = 'Undo' AND sender_id = ${ella.accountId} ORDER BY id`,
        (rows) => rows.map(({ uri }) => uri)
      )
      const follow = Effect.gen(function*() {
        yield* json(ella, `/api/v1/accounts/${id}/follow`, {})
        const rows = yield* sql<{ uri: string }>`SELECT uri FROM follow_requests WHERE account_id = ${ella.accountId}`
        return rows[0]?.uri ?? ""
      })
      const accepted = (uri: string) =>
        deliverFrom(wim, { type: "Accept", object: { id: uri, type: "Follow", actor: me, object: wim.id } })
      const ends = [
        (uri: string): Json => ({ type: "Reject", object: { id: uri, type: "Follow", actor: me, object: wim.id } }),
        (): Json => ({ type: "Block", object: me })
      ]
      for (const end of ends) {
        for (const response of [accepted, Effect.succeed]) {
          const before = yield* undone
          const uri = yield* follow
          yield* response(uri)
          assert.strictEqual(yield* deliverFrom(wim, end(uri)), "done")
          assert.deepStrictEqual((yield* undone).slice(before.length), [`${uri}/undo`])
          yield* deliverFrom(wim, { type: "Undo", object: { type: "Block", object: me } })
        }
      }
    }))

  it.effect("row 62: a remote block ends the follows in both directions, and hides the blocker", () =>
    Effect.gen(function*() {
      const [emil, vera] = [yield* newPerson("emil"), yield* there("vera")]
      const me = yield* actorOf(emil)
      const { id } = yield* found(emil, "vera")
      yield* json(emil, `/api/v1/accounts/${id}/follow`, {})
      yield* deliverFrom(vera, { type: "Accept", object: { type: "Follow", actor: me, object: vera.id } })
      yield* deliverFrom(vera, { type: "Follow", object: me })
      assert.strictEqual(yield* deliverFrom(vera, { type: "Block", object: me }), "done")
      const [relation] = yield* json(emil, `/api/v1/accounts/relationships?id=${id}`)
      assert.deepInclude(relation, { following: false, followed_by: false, blocked_by: true })
      assert.deepInclude(yield* json(emil, "/api/v1/accounts/verify_credentials"), {
        followers_count: 0,
        following_count: 0
      })
      assert.strictEqual(yield* deliverFrom(vera, { type: "Undo", object: { type: "Block", object: me } }), "done")
      assert.isFalse((yield* json(emil, `/api/v1/accounts/relationships?id=${id}`))[0].blocked_by)
    }))
})
