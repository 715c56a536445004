import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { optionsMax } from "../../../src/services/federation/documents/ForeignPoll.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Person } from "../../support/Server.ts"
import { actorOf, received, there, told } from "./InboxCalls.ts"
import { remotePoll, tally } from "./RemotePolls.ts"
import { deliverFrom, type RemotePerson, send, servers, settled } from "./Sending.ts"

/** Publishes a local poll. */
const asks = (by: Person, poll: Json = {}, more: Json = {}) =>
  publish(by, "Which?", { poll: { options: ["one", "two", "three"], expires_in: 3_600, ...poll }, ...more })

/** Sends a vote like other servers. */
const votes = (by: RemotePerson, status: { uri: string }, name: string, more: Json = {}) =>
  deliverFrom(by, {
    type: "Create",
    object: {
      id: `${by.id}/votes/${encodeURIComponent(`${status.uri} ${name}`)}`,
      type: "Note",
      attributedTo: by.id,
      inReplyTo: status.uri,
      name,
      ...more
    }
  })

layer(servers, { excludeTestServices: true })("polls and other servers", (it) => {
  it.effect("S-013, row 19, I20: remote votes count once, by the option's exact name, and are not posts", () =>
    Effect.gen(function*() {
      const [anna, zoe, yan] = [yield* newPerson("anna"), yield* there("zoe"), yield* there("yan")]
      const [single, several] = [yield* asks(anna), yield* asks(anna, { multiple: true })]
      assert.strictEqual(yield* votes(zoe, single, "two"), "done")
      for (const name of ["two", "one"]) {
        assert.strictEqual(
          yield* votes(zoe, single, name),
          "ignored: Validation failed: You have already voted on this poll"
        )
      }
      for (const name of ["", "Two", "two ", "four"]) {
        assert.strictEqual(
          yield* votes(yan, single, name),
          "ignored: Validation failed: The chosen vote option does not exist"
        )
      }
      assert.strictEqual(
        yield* votes(yan, single, "one", { attributedTo: zoe.id }),
        "ignored: not a vote of the sender"
      )
      for (const name of ["one", "three"]) assert.strictEqual(yield* votes(zoe, several, name), "done")
      assert.strictEqual(
        yield* votes(zoe, several, "three", { id: `${zoe.id}/votes/again` }),
        "ignored: Validation failed: You have already voted on this poll"
      )
      yield* votes(yan, several, "three")
      const shown = yield* json(anna, `/api/v1/statuses/${single.id}`)
      assert.deepStrictEqual(tally(shown), [1, 0, 1, 0])
      assert.deepStrictEqual(tally(yield* json(anna, `/api/v1/statuses/${several.id}`)), [2, 1, 0, 2])
      assert.strictEqual(shown.replies_count, 0)
      assert.isEmpty(yield* told(anna))
      const sql = yield* SqlClient.SqlClient
      assert.isEmpty(yield* sql`SELECT FROM statuses WHERE NOT local`)
    }))

  it.effect("row 19: a vote that is sent many times concurrently counts once", () =>
    Effect.gen(function*() {
      const [ben, xeno] = [yield* newPerson("ben"), yield* there("xeno")]
      const status = yield* asks(ben)
      const vote = (n: number) => ({
        type: "Create",
        object: {
          id: `${xeno.id}/votes/${n}`,
          type: "Note",
          attributedTo: xeno.id,
          inReplyTo: status.uri,
          name: n % 2 === 0 ? "one" : "two"
        }
      })
      yield* Effect.all(Array.from({ length: 100 }, (_, n) => send(xeno, vote(n))), { concurrency: 10 })
      yield* settled
      const counts = tally(yield* json(ben, `/api/v1/statuses/${status.id}`))
      assert.deepStrictEqual([counts[0], counts.slice(1).reduce((sum, count) => sum + count, 0)], [1, 1])
    }))

  it.effect("row 19: votes on invisible or ended polls are refused", () =>
    Effect.gen(function*() {
      const [cleo, will] = [yield* newPerson("cleo"), yield* there("will")]
      const hidden = yield* asks(cleo, {}, { visibility: "private" })
      assert.strictEqual(yield* votes(will, hidden, "one"), "ignored: Record not found")
      const open = yield* asks(cleo)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE polls SET expires_at = ${new Date()} WHERE status_id = ${open.id}`
      assert.strictEqual(yield* votes(will, open, "one"), "ignored: Validation failed: The poll has already ended")
      assert.deepStrictEqual(tally(yield* json(cleo, `/api/v1/statuses/${hidden.id}`)), [0, 0, 0, 0])
    }))

  it.effect("S-009, S-076: a question is shown with its server's tallies, and local accounts vote once", () =>
    Effect.gen(function*() {
      const [dora, vera] = [yield* newPerson("dora"), yield* there("vera")]
      const me = yield* actorOf(dora)
      yield* deliverFrom(vera, { type: "Create", object: remotePoll(vera, "tea", me, { yes: 3, no: 4 }) })
      const { id } = yield* received(dora)
      const before = yield* json(dora, `/api/v1/statuses/${id}`)
      assert.deepStrictEqual(tally(before), [7, 3, 4])
      assert.deepInclude(before.poll, { multiple: false, expired: false, voted: false, own_votes: [] })
      const voted = yield* json(dora, `/api/v1/polls/${id}/votes`, { choices: [1] })
      assert.deepInclude(voted, { voted: true, own_votes: [1], votes_count: 7 })
      assert.match((yield* json(dora, `/api/v1/polls/${id}/votes`, { choices: [0] })).error, /already voted/)
      // An Update that is not newer updates the counts and is not an edit.
      const later = remotePoll(vera, "tea", me, { yes: 3, no: 5 })
      assert.strictEqual(yield* deliverFrom(vera, { type: "Update", object: { ...later, content: "other" } }), "done")
      const after = yield* json(dora, `/api/v1/statuses/${id}`)
      assert.deepStrictEqual(tally(after), [8, 3, 5])
      assert.deepInclude(after, { edited_at: null, content: "<p>tea</p>" })
      assert.deepInclude(after.poll, { voted: true, own_votes: [1] })
      const changed = remotePoll(vera, "tea", me, { yes: 1, maybe: 1 })
      assert.match((yield* deliverFrom(vera, { type: "Update", object: changed })) ?? "", /^ignored/)
    }))

  it.effect("S-077: an edit with other options replaces the poll, and an outdated edit changes nothing", () =>
    Effect.gen(function*() {
      const [emil, uwe] = [yield* newPerson("emil"), yield* there("uwe")]
      const me = yield* actorOf(emil)
      yield* deliverFrom(uwe, { type: "Create", object: remotePoll(uwe, "day", me, { mon: 1, tue: 1 }) })
      const { id } = yield* received(emil)
      yield* json(emil, `/api/v1/polls/${id}/votes`, { choices: [0] })
      const at = (seconds: number) => ({ updated: new Date(Date.now() - seconds * 1000).toISOString() })
      const edit = (counts: Record<string, number>, more: Json) =>
        deliverFrom(uwe, { type: "Update", object: remotePoll(uwe, "day", me, counts, more) })
      assert.strictEqual(yield* edit({ mon: 5, tue: 5 }, at(20)), "done")
      const updated = yield* json(emil, `/api/v1/statuses/${id}`)
      assert.deepStrictEqual([tally(updated), updated.poll.own_votes], [[10, 5, 5], [0]])
      assert.strictEqual(yield* edit({ mon: 0, wed: 0 }, at(10)), "done")
      const { poll } = yield* json(emil, `/api/v1/statuses/${id}`)
      assert.deepInclude(poll, { voted: false, own_votes: [], votes_count: 0 })
      assert.deepStrictEqual(poll.options.map(({ title }: { title: string }) => title), ["mon", "wed"])
      assert.match((yield* edit({ mon: 9, wed: 9 }, at(15))) ?? "", /^ignored/)
      assert.match((yield* edit({ mon: 9, wed: 9 }, {})) ?? "", /^done/)
      const history: ReadonlyArray<{ poll?: { options: ReadonlyArray<{ title: string }> } }> = yield* json(
        emil,
        `/api/v1/statuses/${id}/history`
      )
      assert.deepStrictEqual(history.map(({ poll }) => poll?.options[1]?.title), ["tue", "tue", "wed"])
    }))

  it.effect("local voters are notified once of a remote poll's end", () =>
    Effect.gen(function*() {
      const [fay, gil, tom] = [yield* newPerson("fay"), yield* newPerson("gil"), yield* there("tom")]
      const [me, other] = [yield* actorOf(fay), yield* actorOf(gil)]
      const both = { cc: [me, other], tag: [me, other].map((href) => ({ type: "Mention", href })) }
      yield* deliverFrom(tom, { type: "Create", object: remotePoll(tom, "end", me, { a: 1, b: 1 }, both) })
      const { id } = yield* received(fay)
      yield* json(fay, `/api/v1/polls/${id}/votes`, { choices: [0] })
      const closed = { closed: new Date(Date.now() - 1_000).toISOString(), ...both }
      for (let times = 0; times < 2; times++) {
        assert.strictEqual(
          yield* deliverFrom(tom, { type: "Update", object: remotePoll(tom, "end", me, { a: 2, b: 1 }, closed) }),
          "done"
        )
        yield* eventually(told(fay), (all) => all.length === 2)
      }
      assert.deepStrictEqual(yield* told(fay), ["poll tom", "mention tom"])
      assert.deepStrictEqual(yield* told(gil), ["mention tom"])
      assert.isTrue((yield* json(gil, `/api/v1/polls/${id}`)).expired)
    }))

  it.effect("row 39: a question with too many options keeps some of them", () =>
    Effect.gen(function*() {
      const [hal, sam] = [yield* newPerson("hal"), yield* there("sam")]
      const many = Object.fromEntries(Array.from({ length: optionsMax + 1 }, (_, n) => [`option ${n}`, n]))
      const anyOf = remotePoll(sam, "x", "", many)["oneOf"]
      const me = yield* actorOf(hal)
      const object = { ...remotePoll(sam, "many", me, {}), oneOf: undefined, anyOf, endTime: undefined }
      yield* deliverFrom(sam, { type: "Create", object })
      const { poll } = yield* json(hal, `/api/v1/statuses/${(yield* received(hal)).id}`)
      assert.strictEqual(poll.options.length, optionsMax)
      assert.deepInclude(poll, { multiple: true, expires_at: null, expired: false })
      assert.strictEqual(poll.options[optionsMax - 1].votes_count, optionsMax - 1)
    }))
})
