import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { recordingRowsMax } from "../../../src/services/social/MoveFollowers.ts"
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
const run = Effect.fnUntraced(function*(...words: ReadonlyArray<string>) {
  const { variables } = yield* TestServer
  const { code, err, out } = yield* cli(["account", ...words], variables)
  assert.strictEqual(code, 0, err)
  return out
})
const follows = Effect.fnUntraced(function*(by: RemotePerson, target: Person) {
  const me = yield* actorOf(target)
  const id = `${by.id}/follows/${target.accountId}`
  assert.strictEqual(yield* deliverFrom(by, { id, type: "Follow", object: me }), "done")
  return { id, type: "Follow", actor: by.id, object: me }
})
/** Reads a list of followers, with the URL of its next page. */
const listOf = Effect.fnUntraced(function*(by: Person, query: string) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(`/api/v1/accounts/move/followers?${query}`, { token: by.token })
  const all: ReadonlyArray<{ username: string }> = JSON.parse(yield* Effect.promise(() => response.text()))
  const [, next] = /[?]([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "") ?? []
  return { names: all.map(({ username }) => username), next }
})

layer(servers, { excludeTestServices: true })("followers of a move", (it) => {
  it.effect("S-009: an account that moved away sees by API and CLI who came and who did not", () =>
    Effect.gen(function*() {
      const { domain } = yield* OtherServer
      const [mia, lars, otto] = [yield* newPerson("mia"), yield* newPerson("lars"), yield* newPerson("otto")]
      const [rosa, rolf, ruth] = [yield* there("rosa"), yield* there("rolf"), yield* there("ruth")]
      const neu = yield* there("neu", { alsoKnownAs: [yield* actorOf(mia)] })
      const follow = yield* follows(rosa, mia)
      yield* follows(rolf, mia)
      const ruths = yield* follows(ruth, mia)
      for (const one of [lars, otto]) yield* json(one, `/api/v1/accounts/${mia.accountId}/follow`, {})
      assert.deepStrictEqual(yield* json(mia, "/api/v1/accounts/move"), [])
      // Followers who left before are not part of the move.
      yield* deliverFrom(ruth, { type: "Undo", object: ruths })
      yield* run("move", "mia", `neu@${domain}`)
      yield* still
      // The new account accepts one of the two requests from here, and a remote follower leaves the old account.
      yield* deliverFrom(neu, {
        type: "Accept",
        object: { type: "Follow", actor: yield* actorOf(lars), object: neu.id }
      })
      yield* deliverFrom(rosa, { type: "Undo", object: follow })

      const [move, ...others] = yield* json(mia, "/api/v1/accounts/move")
      assert.deepInclude(move, { moved_to_uri: neu.id, came_count: 2, stayed_count: 2 })
      assert.deepStrictEqual([move.account_id, others], [String(mia.accountId), []])
      const first = yield* listOf(mia, "limit=1")
      const second = yield* listOf(mia, first.next ?? "")
      assert.sameMembers([...first.names, ...second.names], ["rosa", "lars"])
      assert.include(second.next ?? "", "came=true")
      assert.deepStrictEqual((yield* listOf(mia, second.next ?? "")).names, [])
      assert.sameMembers((yield* listOf(mia, "came=false")).names, ["rolf", "otto"])
      // The lists are the mover's alone.
      assert.deepStrictEqual((yield* listOf(lars, `account_id=${mia.accountId}`)).names, [])
      const [shown] = JSON.parse(yield* run("move-followers", "mia", "--json"))
      assert.strictEqual(shown.moved_to, `neu@${domain}`)
      assert.sameMembers(shown.came, ["lars", `rosa@${domain}`])
      assert.sameMembers(shown.stayed, ["otto", `rolf@${domain}`])
      const text = yield* run("move-followers", "mia")
      assert.match(text, /^Move to neu@.* at 20.*: 2 came, 2 did not\n/)
      assert.include(text, "  did not come: otto\n")
    }))

  it.effect("S-009: the account moved to sees which local followers came, and only its own moves", () =>
    Effect.gen(function*() {
      const [gil, ida, jan] = [yield* newPerson("gil"), yield* newPerson("ida"), yield* newPerson("jan")]
      const xeno = yield* there("xeno")
      yield* run("alias", "add", "gil", `xeno@${(yield* OtherServer).domain}`)
      const { id } = yield* found(ida, "xeno")
      for (const one of [ida, jan]) {
        yield* json(one, `/api/v1/accounts/${id}/follow`, {})
        yield* deliverFrom(xeno, {
          type: "Accept",
          object: { type: "Follow", actor: yield* actorOf(one), object: xeno.id }
        })
      }
      // Refuses to follow the new account.
      yield* json(gil, `/api/v1/accounts/${jan.accountId}/block`, {})
      assert.strictEqual(
        yield* deliverFrom(xeno, { type: "Move", object: xeno.id, target: yield* actorOf(gil) }),
        "done"
      )
      yield* still
      const [move] = yield* json(gil, "/api/v1/accounts/move")
      assert.deepInclude(move, { account_id: id, came_count: 1, stayed_count: 1, moved_to_id: String(gil.accountId) })
      assert.deepStrictEqual((yield* listOf(gil, `account_id=${id}`)).names, ["ida"])
      // Only the old account may list followers who stayed.
      assert.deepStrictEqual((yield* listOf(gil, `account_id=${id}&came=false`)).names, [])
      assert.deepStrictEqual((yield* listOf(ida, `account_id=${id}`)).names, [])
      assert.match(yield* run("move-followers", "gil"), /^Move from xeno@.*: 1 came, 1 did not\n {2}came: ida\n$/)
    }))

  it.effect(
    "more followers than a slice are recorded before the Move is sent, and a later move replaces them",
    () =>
      Effect.gen(function*() {
        const { domain } = yield* OtherServer
        const sql = yield* SqlClient.SqlClient
        const mo = yield* newPerson("mo")
        const me = yield* actorOf(mo)
        const [next, last] = [yield* there("next", { alsoKnownAs: [me] }), yield* there("last", { alsoKnownAs: [me] })]
        const at = new Date()
        const people = recordingRowsMax + 10
        yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        SELECT n, 'far' || n, 'far.example', 'https://far.example/' || n, ${at}, ${at}
        FROM generate_series(1::bigint, ${people}) n`
        yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        SELECT n, n, ${mo.accountId}, ${at} FROM generate_series(1::bigint, ${people}) n`
        const figures = Effect.map(json(mo, "/api/v1/accounts/move"), ([move]) => [move.came_count, move.stayed_count])
        yield* run("move", "mo", `next@${domain}`)
        yield* still
        assert.deepStrictEqual(yield* figures, [0, people])
        yield* sql`DELETE FROM follows WHERE target_account_id = ${mo.accountId} AND id <= 7`
        assert.deepStrictEqual(yield* figures, [7, people - 7])
        // Older than the time between moves.
        yield* sql`UPDATE moves SET moved_at = ${new Date(
          Date.now() - 31 * 86_400_000
        )} WHERE account_id = ${mo.accountId}`
        yield* run("move", "mo", `last@${domain}`)
        yield* still
        assert.deepStrictEqual(yield* figures, [0, people - 7])
        assert.strictEqual((yield* json(mo, "/api/v1/accounts/move"))[0].moved_to_uri, last.id)
        assert.notStrictEqual(last.id, next.id)
        // Moves of older versions have no list.
        yield* sql`UPDATE moves SET recorded_followers = NULL WHERE account_id = ${mo.accountId}`
        assert.deepStrictEqual(yield* figures, [null, null])
        // The rows are deleted with the account.
        yield* run("delete", "mo", "--yes")
        yield* eventually(
          sql`SELECT FROM move_followers WHERE account_id = ${mo.accountId} LIMIT 1`,
          (rows) => rows.length === 0
        )
      })
  )
})
