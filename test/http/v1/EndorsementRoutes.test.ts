import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { endorsementsMax } from "../../../src/services/social/Endorsements.ts"
import { call } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const act = (me: Person, other: Person, verb: string) =>
  call("POST", `/api/v1/accounts/${other.accountId}/${verb}`, me.token)
const idsAt = (path: string, me?: Person) =>
  Effect.map(call("GET", path, me?.token), ({ body }) => body.map(({ id }: { readonly id: string }) => id))

layer(TestServer.layer(), { excludeTestServices: true })("endorsements", (it) => {
  it.effect("S-213, S-053: a followed account is featured on the profile, under both names, until it is unfollowed", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [me, ada, bob] = [yield* createPerson("me"), yield* createPerson("ada"), yield* createPerson("bob")]
      const refused = yield* act(me, ada, "endorse")
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        "Validation failed: You must be already following the person you want to endorse"
      ])
      assert.strictEqual((yield* act(me, me, "endorse")).status, 422)
      assert.strictEqual((yield* call("POST", "/api/v1/accounts/4711/endorse", me.token)).status, 404)
      for (const other of [ada, bob]) yield* act(me, other, "follow")
      assert.isFalse((yield* act(me, ada, "unendorse")).body.endorsed)
      assert.isTrue((yield* act(me, ada, "endorse")).body.endorsed)
      assert.isTrue((yield* act(me, ada, "pin")).body.endorsed)
      assert.isTrue((yield* act(me, bob, "pin")).body.endorsed)
      const profile = `/api/v1/accounts/${me.accountId}/endorsements`
      const both = [String(bob.accountId), String(ada.accountId)]
      assert.deepStrictEqual(yield* idsAt("/api/v1/endorsements", me), both)
      assert.deepStrictEqual(yield* idsAt(profile), both)
      assert.isFalse((yield* act(me, bob, "unpin")).body.endorsed)
      assert.deepStrictEqual(yield* idsAt(profile, ada), [String(ada.accountId)])
      yield* act(me, ada, "unfollow")
      yield* act(me, ada, "follow")
      assert.deepStrictEqual(yield* idsAt(profile), [])
      yield* act(me, ada, "endorse")
      yield* act(ada, me, "block")
      assert.deepStrictEqual(yield* idsAt("/api/v1/endorsements", me), [])
    }))

  it.effect("limit=0 returns all of the user's own endorsements without a link, and their number is bounded", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [me, last] = [yield* createPerson("many"), yield* createPerson("last")]
      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        SELECT i, 'far' || i, 'far.test', 'https://far.test/' || i, ${new Date()}, ${new Date()}
        FROM generate_series(1::bigint, ${BigInt(endorsementsMax)}) i`
      yield* sql`INSERT INTO account_stats (account_id) SELECT id FROM accounts WHERE domain = 'far.test'`
      yield* sql`INSERT INTO endorsements (id, account_id, target_account_id)
        SELECT id, ${me.accountId}, id FROM accounts WHERE domain = 'far.test'`
      const all = yield* fetch("/api/v1/endorsements?limit=0", { token: me.token })
      assert.isNull(all.headers.get("link"))
      assert.lengthOf(JSON.parse(yield* Effect.promise(() => all.text())), endorsementsMax)
      assert.lengthOf(yield* idsAt("/api/v1/endorsements", me), 40)
      yield* act(me, last, "follow")
      const refused = yield* act(me, last, "endorse")
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        `Validation failed: You cannot feature more than ${endorsementsMax} accounts`
      ])
    }))
})
