import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Account } from "../../../src/http/wire/Account.ts"
import { List } from "../../../src/http/wire/List.ts"
import { Tag } from "../../../src/http/wire/Tag.ts"
import { ask, idsOf, newPerson, publishedId, settled } from "../../support/Api.ts"
import { create, follow, path, put, timeline } from "../../support/ListCalls.ts"
import { links } from "../../support/Requests.ts"
import { TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const missing = { error: "Record not found" }

layer(TestServer.layer(), { excludeTestServices: true })("lists", (it) => {
  it.effect("S-003 S-098 S-217 S-220 S-246: are created, shown, changed and deleted by their owner alone", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna1"), yield* newPerson("ben1")]
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [])
      const created = yield* ask(anna, "POST", path, { title: "  Friends " })
      yield* Schema.decodeUnknownEffect(List)(created.body, strict)
      const { id } = created.body
      assert.deepStrictEqual(created.body, { id, title: "  Friends ", replies_policy: "list", exclusive: false })
      const other = yield* ask(anna, "POST", path, { title: "News", replies_policy: "none", exclusive: "1" })
      assert.deepInclude(other.body, { replies_policy: "none", exclusive: true })
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [created.body, other.body])
      const one = `${path}/${id}`
      assert.deepStrictEqual((yield* ask(anna, "GET", one)).body, created.body)
      assert.deepStrictEqual(
        (yield* ask(anna, "PUT", one, { title: "Family", replies_policy: "followed" })).body,
        { id, title: "Family", replies_policy: "followed", exclusive: false }
      )
      // Omitted fields are unchanged.
      assert.deepStrictEqual(
        (yield* ask(anna, "PATCH", one, { exclusive: true })).body,
        { id, title: "Family", replies_policy: "followed", exclusive: true }
      )
      const refusals: ReadonlyArray<readonly [object, string]> = [
        [{}, "Title can't be blank"],
        [{ title: " " }, "Title can't be blank"],
        [{ title: "x".repeat(257) }, "Title is too long (maximum is 256 characters)"],
        [{ title: "x", replies_policy: "all" }, "Replies policy is not included in the list"],
        [{ title: "", replies_policy: "" }, "Title can't be blank, Replies policy is not included in the list"]
      ]
      for (const [given, text] of refusals) {
        const { body, status } = yield* ask(anna, "POST", path, given)
        assert.deepStrictEqual([status, body], [422, { error: `Validation failed: ${text}` }])
      }
      for (const given of [{ title: "" }, { title: "💜".repeat(257) }, { replies_policy: "x" }]) {
        assert.strictEqual((yield* ask(anna, "PUT", one, given)).status, 422)
      }
      assert.strictEqual((yield* ask(anna, "PUT", one, { title: "💜".repeat(256) })).status, 200)

      // Another user's list gets the response of a missing one.
      const tries = [
        ["GET", ""],
        ["PUT", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["GET", "/accounts"],
        ["POST", "/accounts"],
        ["DELETE", "/accounts"],
        ["GET", "/tags"],
        ["POST", "/tags"],
        ["DELETE", "/tags"]
      ] as const
      for (const [method, more] of tries) {
        const body = method === "GET" ? undefined : { title: "Mine", account_ids: [String(ben.accountId)], tags: ["x"] }
        for (const list of [id, "4711", "x", "99999999999999999999"]) {
          const response = yield* ask(ben, method, `${path}/${list}${more}`, body)
          assert.deepStrictEqual([response.status, response.body], [404, missing], `${method} ${list}${more}`)
        }
      }
      assert.deepStrictEqual((yield* ask(ben, "GET", `/api/v1/timelines/list/${id}`)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "GET", `/api/v1/timelines/list/4711`)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "DELETE", one)).body, {})
      assert.deepStrictEqual((yield* ask(anna, "GET", one)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [other.body])
    }))

  it.effect("S-290: an account has at most 50, also with concurrent requests", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna2")
      const responses = yield* Effect.forEach(
        Array.from({ length: 54 }, (_, index) => `List ${index}`),
        (title) => ask(anna, "POST", path, { title }),
        { concurrency: 9 }
      )
      assert.strictEqual(responses.filter(({ status }) => status === 200).length, 50)
      const refused = responses.find(({ status }) => status === 422)
      assert.strictEqual(refused?.body.error, "Validation failed: You have reached the maximum number of lists")
      assert.lengthOf((yield* ask(anna, "GET", path)).body, 50)
    }))

  it.effect("S-218 S-219 S-136 F97 D-001: members are followed, requested or strangers; their page, and the lists of one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna3"),
        yield* newPerson("ben3"),
        yield* newPerson("cleo3"),
        yield* newPerson("dora3")
      ]
      yield* ask(cleo, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      yield* follow(anna, ben)
      yield* follow(anna, cleo)
      const list = yield* create(anna)
      const accounts = `${path}/${list}/accounts`
      assert.deepStrictEqual((yield* put(anna, list, ben, cleo)).body, {})
      // Beyond Mastodon: a stranger, and the list's owner.
      assert.deepStrictEqual((yield* put(anna, list, dora, anna)).body, {})
      const taken = yield* put(anna, list, ben)
      assert.deepStrictEqual(
        [taken.status, taken.body],
        [422, { error: "Validation failed: Account is already on the list" }]
      )
      for (const ids of [["4711"], [String(ben.accountId), "x"], ["99999999999999999999"], [String(2n ** 63n)]]) {
        const unknown = yield* ask(anna, "POST", accounts, { account_ids: ids })
        assert.deepStrictEqual([unknown.status, unknown.body], [404, missing], ids.join())
      }
      assert.deepStrictEqual((yield* ask(anna, "POST", accounts, {})).body, {})

      const all = yield* ask(anna, "GET", accounts)
      yield* Schema.decodeUnknownEffect(Schema.Array(Account))(all.body, strict)
      assert.deepStrictEqual(yield* idsOf(anna, `${accounts}?limit=0`), yield* idsOf(anna, accounts))
      assert.sameMembers(
        all.body.map(({ id }: Account) => id),
        [ben, cleo, dora, anna].map(({ accountId }) => String(accountId))
      )
      const first = yield* ask(anna, "GET", `${accounts}?limit=3`)
      assert.lengthOf(first.body, 3)
      const { next, prev } = links(first.headers)
      assert.lengthOf(yield* idsOf(anna, next!), 1)
      assert.include(prev!, "since_id=")
      assert.isNull((yield* ask(anna, "GET", `${accounts}?limit=0`)).headers.get("link"))

      const holding = yield* ask(anna, "GET", `/api/v1/accounts/${dora.accountId}/lists`)
      assert.deepStrictEqual(holding.body.map(({ id }: List) => id), [list])
      assert.deepStrictEqual((yield* ask(dora, "GET", `/api/v1/accounts/${dora.accountId}/lists`)).body, [])
      assert.strictEqual((yield* ask(anna, "GET", `/api/v1/accounts/4711/lists`)).status, 404)

      const removed = yield* ask(anna, "DELETE", accounts, { account_ids: [String(dora.accountId), "4711", "x"] })
      assert.deepStrictEqual(removed.body, {})
      const query = `${accounts}?account_ids[]=${anna.accountId}`
      assert.deepStrictEqual((yield* ask(anna, "DELETE", query)).body, {})
      // Rejected, unfollowed and blocked accounts are in no list.
      yield* ask(cleo, "POST", `/api/v1/follow_requests/${anna.accountId}/reject`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [String(ben.accountId)])
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/unfollow`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      yield* put(anna, list, ben, dora)
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/block`)
      yield* ask(dora, "POST", `/api/v1/accounts/${anna.accountId}/block`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      for (const other of [ben, dora]) assert.strictEqual((yield* put(anna, list, other)).status, 403)
      // A member added before its follow was accepted stays.
      yield* follow(anna, cleo)
      yield* put(anna, list, cleo)
      yield* ask(cleo, "POST", `/api/v1/follow_requests/${anna.accountId}/authorize`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [String(cleo.accountId)])
      yield* sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${cleo.accountId}`
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      yield* sql`UPDATE accounts SET suspended_at = NULL WHERE id = ${cleo.accountId}`
    }))

  it.effect("D-002: hashtags are members, by any spelling", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna7"), yield* newPerson("ben7")]
      const list = yield* create(anna)
      const tags = `${path}/${list}/tags`
      assert.deepStrictEqual((yield* ask(anna, "GET", tags)).body, [])
      assert.deepStrictEqual((yield* ask(anna, "POST", tags, { tags: ["#Cats", "dögs"] })).body, {})
      assert.deepStrictEqual((yield* ask(anna, "POST", tags, { tags: ["CATS"] })).body, {})
      const shown = yield* ask(anna, "GET", tags)
      yield* Schema.decodeUnknownEffect(Schema.Array(Tag))(shown.body, strict)
      assert.sameMembers(shown.body.map(({ name }: Tag) => name), ["Cats", "dögs"])
      for (const names of [["no tag"], ["cats", "12"], [""], ["#"]]) {
        const { body, status } = yield* ask(anna, "POST", tags, { tags: names })
        if (names[0] === "") assert.deepStrictEqual(body, {})
        else assert.deepStrictEqual([status, body], [404, missing], names.join())
      }
      const one = yield* publishedId(ben, "#cäts #DOGS")
      yield* publishedId(ben, "#cats for few", { visibility: "unlisted" })
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), [one])
      assert.deepStrictEqual((yield* ask(anna, "DELETE", tags, { tags: ["dogs"] })).body, {})
      assert.deepStrictEqual(yield* timeline(anna, list), [one])
      assert.deepStrictEqual((yield* ask(anna, "DELETE", tags, { tags: ["#cats", "fish"] })).body, {})
      assert.deepStrictEqual(yield* timeline(anna, list), [])
      const many = Array.from({ length: 101 }, (_, index) => `t${index}`)
      const { body, status } = yield* ask(anna, "POST", tags, { tags: many })
      const text = "Validation failed: You have reached the maximum number of hashtags in a list"
      assert.deepStrictEqual([status, body], [422, { error: text }])
      assert.deepStrictEqual((yield* ask(anna, "GET", tags)).body, [])
    }))
})
