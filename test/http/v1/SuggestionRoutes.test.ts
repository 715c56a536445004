import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Suggestion } from "../../../src/http/wire/Suggestion.ts"
import { call, newPerson, publishedId } from "../../support/Api.ts"
import { favouritedBy, refreshTrends, remoteAccounts } from "../../support/Crowd.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const ids = (path: string, me?: Person) =>
  Effect.map(call("GET", path, me?.token), ({ body }) => body.map(({ id }: { readonly id: string }) => id))
const v1 = (me: Person, query = "") => ids(`/api/v1/suggestions${query}`, me)
const v2 = (me: Person, query = "") =>
  Effect.gen(function*() {
    const { body } = yield* call("GET", `/api/v2/suggestions${query}`, me.token)
    const found = yield* Schema.decodeUnknownEffect(Schema.Array(Suggestion))(body, { onExcessProperty: "error" })
    return found.map(({ account, source, sources }) => [account.id, source].concat(sources))
  })
const on = (me: Person, status: string, verb: string) => call("POST", `/api/v1/statuses/${status}/${verb}`, me.token)
const to = (me: Person, other: { readonly accountId: bigint }, verb: string) =>
  call("POST", `/api/v1/accounts/${other.accountId}/${verb}`, me.token)
const discoverable = (me: Person, more: Record<string, unknown> = {}) =>
  call("PATCH", "/api/v1/accounts/update_credentials", me.token, { discoverable: true, ...more })
const id = ({ accountId }: Person) => String(accountId)

layer(TestServer.layer(), { excludeTestServices: true })("suggestions", (it) => {
  it.effect("S-156, S-293: unfollowed accounts that the user interacted with, by weight, then by the day of their last post", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [me, replied, liked, boosted, old, friend] = yield* Effect.all([
        newPerson("me"),
        newPerson("replied"),
        newPerson("liked"),
        newPerson("boosted"),
        newPerson("old"),
        newPerson("friend")
      ])
      assert.deepStrictEqual(yield* v1(me), [])
      for (const one of [boosted, liked, replied, old, friend]) {
        const status = yield* publishedId(one, "hello")
        if (one === replied) yield* publishedId(me, "@replied yes", { in_reply_to_id: status })
        if (one !== replied) yield* on(me, status, one === liked ? "favourite" : "reblog")
        if (one === old) yield* on(me, status, "favourite")
      }
      yield* on(me, yield* publishedId(me, "mine"), "favourite")
      yield* to(me, friend, "follow")
      yield* sql`UPDATE account_stats SET last_status_at = last_status_at - interval '3 days' WHERE account_id = ${old.accountId}`
      assert.deepStrictEqual(yield* v1(me), [id(boosted), id(liked), id(replied), id(old)])
      assert.deepStrictEqual(yield* v1(me, "?limit=2&offset=1"), [id(liked), id(replied)])
      assert.deepStrictEqual(yield* v1(me, "?limit=-2&offset=-9"), [id(boosted), id(liked)])
      assert.deepStrictEqual(yield* v1(me, "?limit=0"), [])
      assert.deepStrictEqual((yield* v2(me))[0], [id(boosted), "past_interactions"])
      // Old and undone favourites do not count.
      yield* sql`UPDATE favourites SET id = id - (91::bigint * 86400000 << 16) WHERE account_id = ${me.accountId}`
      assert.deepStrictEqual(yield* v1(me), [id(boosted), id(replied), id(old)])
      yield* sql`UPDATE statuses SET deleted_at = created_at WHERE account_id = ${me.accountId} AND in_reply_to_id IS NOT NULL`
      assert.deepStrictEqual(yield* v1(me), [id(boosted), id(old)])
    }))

  it.effect("S-156, S-157: suspended, limited, locked, moved, blocked, muted and dismissed accounts are left out; muted ones only during the mute", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [amy, bea, you] = yield* Effect.all([newPerson("amy"), newPerson("bea"), newPerson("you")])
      yield* on(you, yield* publishedId(amy, "hello"), "favourite")
      yield* on(amy, yield* publishedId(you, "hello"), "favourite")
      const both = Effect.all([v1(amy), v1(you)])
      assert.deepStrictEqual(yield* both, [[id(you)], [id(amy)]])
      const states = ["suspended_at = now()", "silenced_at = now()", "locked = true", `moved_to_id = ${bea.accountId}`]
      for (const state of states) {
        yield* sql`UPDATE accounts SET ${sql.literal(state)} WHERE id = ${amy.accountId}`
        assert.deepStrictEqual(yield* v1(you), [], state)
        yield* sql`UPDATE accounts SET suspended_at = NULL, silenced_at = NULL, locked = false, moved_to_id = NULL
          WHERE id = ${amy.accountId}`
      }
      yield* to(you, amy, "mute")
      assert.deepStrictEqual(yield* both, [[id(you)], []])
      yield* to(you, amy, "unmute")
      assert.deepStrictEqual(yield* v1(you), [id(amy)])
      // A block removes it on both sides, and earlier interactions do not count after the block.
      yield* to(you, amy, "block")
      assert.deepStrictEqual(yield* both, [[], []])
      yield* to(you, amy, "unblock")
      assert.deepStrictEqual(yield* both, [[], []])
      yield* on(you, yield* publishedId(amy, "hello again"), "favourite")
      assert.deepStrictEqual(yield* both, [[], [id(amy)]])
      const dismissed = yield* call("DELETE", `/api/v1/suggestions/${amy.accountId}`, you.token)
      assert.deepStrictEqual([dismissed.status, dismissed.body], [200, {}])
      yield* on(you, yield* publishedId(amy, "and again"), "reblog")
      assert.deepStrictEqual(yield* v1(you), [])
      assert.deepStrictEqual(yield* v2(you), [])
      assert.strictEqual((yield* call("DELETE", "/api/v1/suggestions/4711", you.token)).status, 404)
    }))

  it.effect("accounts of a blocked domain are left out", () =>
    Effect.gen(function*() {
      const [sue] = yield* Effect.all([newPerson("sue")])
      const sql = yield* SqlClient.SqlClient
      const [far] = yield* remoteAccounts("far.test", 1)
      yield* sql`INSERT INTO statuses (id, account_id, uri, local, visibility, conversation_id, created_at)
        VALUES (77, ${far ?? 0n}, 'https://far.test/p', false, 'public', 77, ${new Date()})`
      yield* sql`INSERT INTO status_stats (status_id) VALUES (77)`
      yield* favouritedBy("77", [sue.accountId])
      assert.deepStrictEqual(yield* v1(sue), [String(far)])
      yield* call("POST", "/api/v1/domain_blocks?domain=far.test", sue.token)
      assert.deepStrictEqual(yield* v1(sue), [])
    }))

  it.effect("v2 continues with visible follows of friends, and with popular accounts here", () =>
    Effect.gen(function*() {
      const [eva, fay, gus, hal, shy] = yield* Effect.all([
        newPerson("eva"),
        newPerson("fay"),
        newPerson("gus"),
        newPerson("hal"),
        newPerson("shy")
      ])
      const fans = yield* Effect.all([
        newPerson("fan1"),
        newPerson("fan2"),
        newPerson("fan3"),
        newPerson("fan4"),
        newPerson("fan5"),
        newPerson("fan6")
      ])
      for (const one of [fay, gus, hal, shy]) yield* discoverable(one)
      yield* to(eva, fay, "follow")
      yield* to(eva, shy, "follow")
      yield* to(fay, gus, "follow")
      yield* to(shy, hal, "follow")
      yield* discoverable(shy, { hide_collections: true })
      assert.deepStrictEqual(yield* v2(eva), [[id(gus), "past_interactions", "friends_of_friends"]])
      assert.deepStrictEqual(yield* v1(eva), [])
      for (const fan of fans) yield* to(fan, hal, "follow")
      const praised = yield* publishedId(gus, "well said")
      for (const fan of fans) yield* on(fan, praised, "favourite")
      yield* refreshTrends
      assert.deepStrictEqual(yield* v2(eva), [
        [id(gus), "past_interactions", "friends_of_friends", "most_interactions"],
        [id(hal), "global", "most_followed"]
      ])
      yield* on(eva, yield* publishedId(hal, "me too"), "favourite")
      assert.deepStrictEqual(yield* v2(eva, "?limit=1"), [[id(hal), "past_interactions", "most_followed"]])
      yield* discoverable(gus, { discoverable: false })
      assert.deepStrictEqual(yield* v2(eva, "?offset=1"), [])
    }))
})

layer(TestServer.layer(), { excludeTestServices: true })("the directory", (it) => {
  it.effect("shows discoverable accounts: last post or newest first; local or all", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ann, ben, cat, viewer] = yield* Effect.all([
        newPerson("ann"),
        newPerson("ben"),
        newPerson("cat"),
        newPerson("viewer")
      ])
      const list = (query: string, me?: Person) => ids(`/api/v1/directory${query}`, me)
      assert.deepStrictEqual(yield* list(""), [])
      for (const one of [ann, ben]) yield* discoverable(one)
      yield* publishedId(ben, "first")
      yield* publishedId(ann, "second")
      yield* publishedId(cat, "does not want to be found")
      const [far] = yield* remoteAccounts("far.test", 1)
      assert.deepStrictEqual(yield* list(""), [id(ann), id(ben), String(far)])
      assert.deepStrictEqual(yield* list("?local=true"), [id(ann), id(ben)])
      assert.deepStrictEqual(yield* list("?order=new&local=1"), [id(ben), id(ann)])
      assert.deepStrictEqual(yield* list("?order=new"), [String(far), id(ben), id(ann)])
      assert.deepStrictEqual(yield* list("?limit=1&offset=1"), [id(ben)])
      assert.deepStrictEqual(yield* list("?limit=x&offset=-5&order=nonsense"), [id(ann), id(ben), String(far)])
      assert.isNull((yield* call("GET", "/api/v1/directory", undefined)).headers.get("link"))
      yield* to(viewer, ann, "mute")
      yield* to(ben, viewer, "block")
      assert.deepStrictEqual(yield* list("", viewer), [String(far)])
      yield* call("POST", "/api/v1/domain_blocks?domain=far.test", viewer.token)
      assert.deepStrictEqual(yield* list("", viewer), [])
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${far ?? 0n}`
      yield* sql`UPDATE accounts SET silenced_at = now() WHERE id = ${ann.accountId}`
      yield* sql`UPDATE users SET approved = false WHERE account_id = ${ben.accountId}`
      assert.deepStrictEqual(yield* list(""), [])
    }))
})
