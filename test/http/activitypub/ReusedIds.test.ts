import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ActivityTypeWith, typesWith } from "../../../src/services/federation/documents/ActivityTypes.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { note, OtherServer, type RemotePerson, sendBody, servers, settled } from "./Sending.ts"

const began = Date.now() - 60_000
const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Sends an activity unchanged, signed this many seconds after the start. */
const at = Effect.fnUntraced(function*(by: RemotePerson, activity: Json, seconds: number) {
  const text = JSON.stringify({ "@context": "https://www.w3.org/ns/activitystreams", actor: by.id, ...activity })
  assert.strictEqual(yield* sendBody(by, text, "/inbox", began + seconds * 1_000), 202)
  return yield* settled
})

layer(servers, { excludeTestServices: true })("ids that others reuse", (it) => {
  /**
   * Effects of an activity type, its undo, and whether it is active. `loose`: only copies are known to be late, as ids
   * do not show what belongs together.
   */
  const cases = Effect.fnUntraced(function*(type: ActivityTypeWith<"reused">, name = type.toLowerCase()) {
    const sql = yield* SqlClient.SqlClient
    const featured = `${(yield* OtherServer).url}/users/${name}/featured`
    const [anna, zoe] = [yield* newPerson(`anna${name}`), yield* there(name, { featured })]
    const written = yield* publish(anna, "hello")
    const me = yield* actorOf(anna)
    const account = yield* found(anna, name)
    const id = `${zoe.id}#${name}`
    const some = (rows: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
      Effect.map(Effect.orDie(rows), ({ length }) => length > 0)
    const undo = (activity: Json): Json => ({ id: `${id}/undo`, type: "Undo", object: { actor: zoe.id, ...activity } })
    const undone = (activity: Json, inEffect: Effect.Effect<boolean>) => ({
      zoe,
      activity,
      ends: [undo(activity), { id: `${id}/undo`, type: "Undo", object: id }],
      inEffect
    })
    const marked = (activity: Json, table: string) =>
      undone(
        { id, object: written.uri, ...activity },
        some(sql`SELECT FROM ${sql(table)} WHERE status_id = ${written.id}`)
      )
    const follows = some(sql`SELECT FROM follows WHERE account_id = ${anna.accountId}`)
    switch (type) {
      case "Like":
      case "Undo":
        return marked({ type: "Like" }, "favourites")
      case "EmojiReact":
        return marked({ type, content: "🔥" }, "emoji_reactions")
      case "Announce":
        return undone(
          { id, type, object: written.uri, to: [everybody] },
          some(sql`SELECT FROM statuses WHERE reblog_of_id = ${written.id} AND deleted_at IS NULL`)
        )
      case "Follow":
        return undone(
          { id, type, object: me },
          some(sql`SELECT FROM follows WHERE target_account_id = ${anna.accountId}`)
        )
      case "Block":
        return undone(
          { id, type, object: me },
          some(sql`SELECT FROM blocks WHERE target_account_id = ${anna.accountId}`)
        )
      case "Accept":
      case "Reject": {
        // Mastodon sends this for every follow of its account under the same id.
        yield* json(anna, `/api/v1/accounts/${account.id}/follow`, {})
        const follow = { type: "Follow", actor: me, object: zoe.id }
        const [accept, reject] = ["Accept", "Reject"].map((response): Json => ({
          id: `${zoe.id}#${response.toLowerCase()}s/follows/`,
          type: response,
          object: follow
        }))
        const again = json(anna, `/api/v1/accounts/${account.id}/follow`, {})
        return type === "Accept"
          ? { zoe, activity: accept!, ends: [reject!], inEffect: follows, again }
          : {
            zoe,
            activity: accept!,
            ends: [{ id: reject!["id"], type: "Reject", object: follow }],
            inEffect: follows,
            again
          }
      }
      case "Add":
      case "Remove": {
        const own = note(zoe, "pinned", { cc: [me], tag: [{ type: "Mention", href: me }] })
        yield* at(zoe, { id: `${id}/create`, type: "Create", object: own }, 0)
        const change = { target: featured, object: own["id"] }
        return {
          zoe,
          loose: true,
          activity: { id: `${id}/pin`, type: "Add", ...change },
          ends: [{ id: `${id}/unpin`, type: "Remove", ...change }],
          inEffect: some(
            sql`SELECT FROM status_pins p JOIN statuses s ON s.id = p.status_id WHERE s.uri = ${own["id"]}`
          )
        }
      }
    }
  })

  for (const type of typesWith("reused")) {
    it.effect(`F40: ${type} counts again under its id when it is signed later, and no copy and no late activity does`, () =>
      Effect.gen(function*() {
        const { activity, ends, inEffect, zoe, ...more } = yield* cases(type)
        const loose = "loose" in more
        const told = Effect.fnUntraced(function*(what: Json, seconds: number) {
          const outcome = yield* at(zoe, what, seconds)
          return `${seconds} ${yield* inEffect} ${outcome}`
        })
        const again = "again" in more ? more.again : Effect.void
        let seconds = 0
        for (const round of [0, 1, 2]) {
          for (const end of ends) {
            yield* again
            const begun = seconds += 2
            assert.match(yield* told(activity, begun), / true /, `begins ${round}`)
            const ended = seconds += 4
            assert.match(yield* told(end, ended), / false /, `ends ${round}`)
            // The identical requests, and one signed in between that arrives late.
            for (const old of loose ? [begun] : [begun, ended - 1]) {
              assert.match(yield* told(activity, old), / false /, `late ${round}`)
            }
            yield* again
            const renewed = seconds += 4
            assert.match(yield* told(activity, renewed), / true /, `again ${round}`)
            for (const old of loose || "again" in more ? [ended] : [ended, renewed - 1]) {
              assert.match(yield* told(end, old), / true /, `a late end ${round}`)
            }
            assert.match(yield* told(end, seconds += 2), / false /, `ends again ${round}`)
          }
        }
      }))
  }

  for (const type of ["Announce", "Block", "EmojiReact", "Follow", "Like"] as const) {
    it.effect(`F44: a repeated Undo of ${type} keeps a newer activity with another id`, () =>
      Effect.gen(function*() {
        const { activity, inEffect, zoe } = yield* cases(type, `anew${type.toLowerCase()}`)
        const [first, second]: ReadonlyArray<Json> = [
          { ...activity, id: `${zoe.id}#${type}-1` },
          { ...activity, id: `${zoe.id}#${type}-2` }
        ]
        const undo = (object: Json = {}): Json => ({
          id: `${String(object["id"])}/undo`,
          type: "Undo",
          object: { actor: zoe.id, ...object }
        })
        yield* at(zoe, first!, 1)
        assert.strictEqual(yield* at(zoe, undo(first), 2), "done")
        yield* at(zoe, second!, 3)
        for (const seconds of [4, 5]) {
          assert.strictEqual(yield* at(zoe, undo(first), seconds), "ignored: superseded by a later activity")
          assert.isTrue(yield* inEffect)
        }
        assert.strictEqual(yield* at(zoe, undo(second), 6), "done")
        assert.isFalse(yield* inEffect)
      }))
    it.effect(`F44: an earlier ${type} and its Undo that arrive late, in any order, leave the later one`, () =>
      Effect.gen(function*() {
        const { activity, inEffect, zoe } = yield* cases(type, `late${type.toLowerCase()}`)
        let seconds = 0
        const comes = (what: Json) => at(zoe, what, ++seconds)
        const named = (name: string): Json => ({ ...activity, id: `${zoe.id}#${type}/${name}` })
        const undo = (object: Json): Json => ({
          id: `${String(object["id"])}/undo`,
          type: "Undo",
          object: { actor: zoe.id, ...object }
        })
        const ends = Effect.fnUntraced(function*(what: Json, name: string) {
          assert.isTrue(yield* inEffect, name)
          assert.strictEqual(yield* comes(what), "done", name)
          assert.isFalse(yield* inEffect, name)
        })
        for (const  of of[undo, (object: Json): Json => ({ ...undo(object), object: object["id"] })]) {
          const [first, second] = [named(`${++seconds}9`), named(`${seconds + 1}00`)]
          yield* comes(second)
          yield* comes(first)
          yield* comes(of(first))
          yield* ends(of(second), "both late")
        }
        // The undo arrives after it.
        const [third, fourth] = [named("100001"), named("100002")]
        yield* comes(fourth)
        assert.strictEqual(yield* comes(undo(third)), "ignored: superseded by a later activity")
        yield* ends(undo(fourth), "the Undo first")
        yield* comes(third)
        assert.isFalse(yield* inEffect, "it was undone before it came")
        // Ids without a visible order arrived in their order.
        const [fifth, sixth] = [named("one"), named("other")]
        yield* comes(fifth)
        yield* comes(sixth)
        assert.strictEqual(yield* comes(undo(fifth)), "ignored: superseded by a later activity")
        yield* ends(undo(sixth), "without numbers")
      }))
  }

  it.effect("F40: responses under one id reach each local account, also concurrently", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const yan = yield* there("yan")
      const people = yield* Effect.forEach(["p1", "p2", "p3", "p4"], newPerson)
      const follows = yield* Effect.forEach(
        people,
        Effect.fnUntraced(function*(one) {
          const account = yield* found(one, "yan")
          yield* json(one, `/api/v1/accounts/${account.id}/follow`, {})
          return { type: "Follow", actor: yield* actorOf(one), object: yan.id }
        })
      )
      const response = (type: string, seconds: number) =>
        Effect.forEach(follows, (object) => at(yan, { id: `${yan.id}#${type}s/follows/`, type, object }, seconds), {
          concurrency: "unbounded"
        })
      const count = Effect.map(
        sql`SELECT FROM follows WHERE account_id = ANY (${people.map(({ accountId }) => accountId)}::bigint[])`,
        ({ length }) => length
      )
      yield* response("Accept", 1)
      yield* settled
      assert.strictEqual(yield* count, 4)
      yield* response("Reject", 2)
      yield* settled
      assert.strictEqual(yield* count, 0)
    }))

  it.effect("F40: a Reject of an earlier follow leaves the later one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, xia] = [yield* newPerson("annika"), yield* there("xia")]
      const [account, me] = [yield* found(anna, "xia"), yield* actorOf(anna)]
      const asks = Effect.gen(function*() {
        yield* json(anna, `/api/v1/accounts/${account.id}/follow`, {})
        const [row] = yield* sql<{ uri: string }>`SELECT uri FROM follow_requests WHERE account_id = ${anna.accountId}`
        return { id: row?.uri, type: "Follow", actor: me, object: xia.id }
      })
      const first = yield* asks
      yield* json(anna, `/api/v1/accounts/${account.id}/unfollow`, {})
      const second = yield* asks
      assert.notStrictEqual(first.id, second.id)
      assert.match((yield* at(xia, { id: `${xia.id}#r1`, type: "Reject", object: first }, 1)) ?? "", /^ignored: /)
      assert.match((yield* at(xia, { id: `${xia.id}#r2`, type: "Reject", object: first.id }, 2)) ?? "", /^ignored: /)
      assert.strictEqual(yield* at(xia, { id: `${xia.id}#r3`, type: "Reject", object: second }, 3), "done")
      assert.deepStrictEqual(yield* sql`SELECT uri FROM follow_requests WHERE account_id = ${anna.accountId}`, [])
    }))
})
