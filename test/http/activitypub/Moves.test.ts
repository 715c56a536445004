import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transferRowsMax } from "../../../src/services/social/Moves.ts"
import { json, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Person } from "../../support/Server.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, type RemotePerson, servers } from "./Sending.ts"

/** Waits until no work is left. */
const still = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql<{ count: number }>`SELECT (SELECT count(*) FROM inbound_activities WHERE outcome IS NULL)::int
    + (SELECT count(*) FROM errands WHERE tries < 2)::int + (SELECT count(*) FROM account_intents)::int
    + (SELECT count(*) FROM fanouts)::int AS count`
  yield* eventually(waiting, ([row]) => row?.count === 0)
})
const says = (by: RemotePerson, more: object) =>
  OtherServer.use(({ documents }) =>
    Effect.sync(() => {
      const path = new URL(by.id).pathname
      documents.set(path, { ...documents.get(path), ...more })
    })
  )
const moves = Effect.fnUntraced(function*(by: RemotePerson, to: string) {
  const outcome = yield* deliverFrom(by, { type: "Move", object: by.id, target: to })
  yield* still
  return outcome
})
const follows = Effect.fnUntraced(function*(by: Person, target: RemotePerson) {
  const { id } = yield* found(by, target.name)
  yield* json(by, `/api/v1/accounts/${id}/follow`, {})
  yield* deliverFrom(target, {
    type: "Accept",
    object: { type: "Follow", actor: yield* actorOf(by), object: target.id }
  })
  return id
})
const relation = (by: Person, id: string) =>
  Effect.map(json(by, `/api/v1/accounts/relationships?id=${id}`), ([one]) => one)

layer(servers, { excludeTestServices: true })("accounts that move", (it) => {
  it.effect("S-009, row 23, F98: followers move once the target confirms, and blocks and mutes follow", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* newPerson("cleo")]
      const old = yield* there("old")
      const fresh = yield* there("fresh", { alsoKnownAs: [old.id] })
      const from = yield* follows(anna, old)
      yield* json(anna, `/api/v1/accounts/${from}/follow`, { reblogs: false, notify: true })
      yield* json(ben, `/api/v1/accounts/${from}/block`, {})
      yield* json(cleo, `/api/v1/accounts/${from}/mute`, { notifications: false, replies: true })
      assert.strictEqual(yield* moves(old, fresh.id), "done")
      const { id: to } = yield* found(anna, "fresh")
      assert.deepInclude(yield* relation(anna, to), { requested: true, showing_reblogs: false, notifying: true })
      assert.isFalse((yield* relation(anna, from)).following)
      assert.isTrue((yield* relation(ben, to)).blocking)
      assert.deepInclude(yield* relation(cleo, to), {
        muting: true,
        muting_notifications: false,
        muting_replies: true
      })
      assert.strictEqual((yield* json(anna, `/api/v1/accounts/${from}`)).moved.id, to)
      const refused = yield* json(cleo, `/api/v1/accounts/${from}/follow`, {})
      assert.strictEqual(refused.error, "This action is not allowed")
    }))

  it.effect("row 23: a target whose current document does not name the account gets no followers", () =>
    Effect.gen(function*() {
      const [dora, zed, will] = [
        yield* newPerson("dora"),
        yield* there("zed"),
        yield* there("will", { alsoKnownAs: [] })
      ]
      const from = yield* follows(dora, zed)
      const follows2 = yield* there("thief")
      for (
        const activity of [
          { type: "Move", object: zed.id, target: follows2.id },
          { type: "Move", object: follows2.id, target: follows2.id },
          { type: "Move", object: follows2.id, target: "javascript:x" }
        ]
      ) {
        assert.strictEqual(yield* deliverFrom(follows2, activity), "ignored: not a move of the sender")
      }
      yield* moves(zed, will.id)
      assert.isTrue((yield* relation(dora, from)).following)
      // Cached data does not count.
      yield* found(dora, "will")
      yield* says(will, { alsoKnownAs: [zed.id] })
      yield* moves(zed, will.id)
      assert.isFalse((yield* relation(dora, from)).following)
      assert.isTrue((yield* relation(dora, (yield* found(dora, "will")).id)).requested)
    }))

  it.effect("row 23: an account moves once a week, and never to an account that has moved", () =>
    Effect.gen(function*() {
      const [emil, a, b] = [yield* newPerson("emil"), yield* there("aa"), yield* there("bb")]
      const c = yield* there("cc", { alsoKnownAs: [a.id, b.id] })
      yield* says(b, { alsoKnownAs: [a.id] })
      yield* says(a, { alsoKnownAs: [b.id, c.id] })
      yield* follows(emil, a)
      assert.strictEqual(yield* moves(a, b.id), "done")
      yield* says(a, { movedTo: b.id })
      assert.strictEqual(yield* moves(a, c.id), "ignored: too soon after its last move")
      yield* moves(b, a.id)
      const target = yield* found(emil, "bb")
      assert.isUndefined(target.moved)
      assert.isTrue((yield* relation(emil, target.id)).requested)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE moves SET moved_at = ${new Date(Date.now() - 8 * 86_400_000)}`
      yield* says(a, { movedTo: undefined })
      yield* moves(b, a.id)
      const { domain } = yield* OtherServer
      const moved = yield* json(emil, `/api/v1/accounts/lookup?acct=bb@${domain}`)
      assert.strictEqual(moved.moved.username, "aa")
    }))

  it.effect("followers beyond one slice also move, once each", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [fay, many] = [yield* newPerson("fay"), yield* there("many")]
      const next = yield* there("next", { alsoKnownAs: [many.id] })
      const from = yield* follows(fay, many)
      const at = new Date()
      const people = transferRowsMax + 20
      yield* sql`INSERT INTO accounts (id, username, created_at, updated_at)
        SELECT n, 'person' || n, ${at}, ${at} FROM generate_series(1::bigint, ${people}) n`
      yield* sql`INSERT INTO actors (account_id) SELECT n FROM generate_series(1::bigint, ${people}) n`
      yield* sql`INSERT INTO account_stats (account_id) SELECT n FROM generate_series(1::bigint, ${people}) n`
      yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
        SELECT n, n || '@x.test', '', ${at}, ${at} FROM generate_series(1::bigint, ${people}) n`
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        SELECT n, n, ${from}, ${at} FROM generate_series(1::bigint, ${people}) n`
      yield* moves(many, next.id)
      const { id } = yield* found(fay, "next")
      const left = yield* sql`SELECT FROM follows WHERE target_account_id = ${from}`
      const requests = yield* sql`SELECT FROM follow_requests WHERE target_account_id = ${id}`
      assert.deepStrictEqual([left.length, requests.length], [0, people + 1])
    }))

  it.effect(
    "S-009: a local account moves by the operator's command, names its aliases, and can be a target",
    () =>
      Effect.gen(function*() {
        const { fetch, variables } = yield* TestServer
        const { domain } = yield* OtherServer
        const [gil, hal, ida] = [yield* newPerson("gil"), yield* newPerson("hal"), yield* newPerson("ida")]
        const xeno = yield* there("xeno")
        const run = (...words: ReadonlyArray<string>) => cli(["account", ...words], variables)
        const me = yield* actorOf(gil)
        const refused = yield* run("move", "gil", `xeno@${domain}`)
        assert.notStrictEqual(refused.code, 0)
        assert.include(refused.err, "does not list gil@")
        yield* run("alias", "add", "gil", `xeno@${domain}`)
        yield* still
        assert.strictEqual((yield* run("alias", "list", "gil")).out.trim(), xeno.id)
        const document = Effect.gen(function*() {
          const response = yield* fetch("/users/gil", { headers: { accept: "application/activity+json" } })
          const shown: { alsoKnownAs: ReadonlyArray<string> } = JSON.parse(yield* Effect.promise(() => response.text()))
          return shown.alsoKnownAs
        })
        assert.deepStrictEqual(yield* document, [xeno.id])
        // Follows xeno, who moves to gil.
        yield* follows(ida, xeno)
        yield* moves(xeno, me)
        assert.isTrue((yield* relation(ida, String(gil.accountId))).following)
        // Hal, whom ida follows, also becomes gil.
        yield* json(ida, `/api/v1/accounts/${hal.accountId}/follow`, {})
        yield* run("alias", "add", "gil", "hal")
        yield* still
        const moved = yield* run("move", "hal", "gil")
        assert.strictEqual(moved.code, 0, moved.err)
        yield* still
        assert.isFalse((yield* relation(ida, String(hal.accountId))).following)
        assert.strictEqual((yield* json(ida, `/api/v1/accounts/${hal.accountId}`)).moved.username, "gil")
        assert.strictEqual((yield* document).length, 2)
        yield* run("alias", "remove", "gil", "hal")
        yield* still
        assert.deepStrictEqual(yield* document, [xeno.id])
      })
  )
})
