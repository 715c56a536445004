import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Search } from "../../../src/http/wire/Search.ts"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { get } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const search = (parameters: Record<string, string>, bearer?: string) =>
  get(`/api/v2/search?${new URLSearchParams(parameters)}`, bearer)

const found = Effect.fnUntraced(function*(parameters: Record<string, string>, bearer?: string) {
  const { body, status, text } = yield* search(parameters, bearer)
  assert.strictEqual(status, 200, text)
  const { accounts, hashtags, statuses } = yield* Schema.decodeUnknownEffect(Search, { onExcessProperty: "error" })(
    body
  )
  return {
    accounts: accounts.map(({ username }) => username),
    hashtags: hashtags.map(({ name }) => name),
    statuses: statuses.map(({ id }) => id)
  }
})
/** Runs the index of posts until it is up to date. */
const indexed = Effect.gen(function*() {
  const { step } = yield* StatusIndex
  yield* Effect.repeat(step, { until: (more) => !more })
}).pipe(Effect.provide(StatusIndex.layer))
const nothing = { accounts: [], hashtags: [], statuses: [] }

layer(server(), { excludeTestServices: true })("search", (it) => {
  it.effect("S-150: accounts, hashtags and the user's own posts; one kind of them by type, with an offset", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const anna = yield* person("fox_anna")
      yield* person("fox_ben")
      const bearer = yield* issueToken(anna)
      const id = String(yield* status(anna, "the fox", { visibility: "private", tag: "fox" }))
      yield* indexed
      const all = yield* found({ q: "fox" }, bearer)
      assert.sameMembers(all.accounts, ["fox_anna", "fox_ben"])
      assert.deepStrictEqual([all.hashtags, all.statuses], [["fox"], [id]])
      assert.deepStrictEqual(yield* found({ q: "fox", type: "hashtags" }, bearer), { ...nothing, hashtags: ["fox"] })
      assert.deepStrictEqual(yield* found({ q: "fox", type: "statuses" }, bearer), { ...nothing, statuses: [id] })
      assert.deepStrictEqual(yield* found({ q: "fox", type: "statuses", offset: "1" }, bearer), nothing)
      assert.deepStrictEqual(yield* found({ q: "fox", type: "statuses", max_id: id }, bearer), nothing)
      assert.deepStrictEqual(yield* found({ q: "fox", type: "statuses", min_id: "1" }, bearer), {
        ...nothing,
        statuses: [id]
      })
      assert.deepStrictEqual(yield* found({ q: "fox", type: "statuses", account_id: "1" }, bearer), nothing)
      assert.strictEqual(
        (yield* found({ q: "fox", type: "accounts", offset: "1", limit: "1" }, bearer)).accounts.length,
        1
      )
      // Without a type the offset is ignored.
      assert.strictEqual((yield* found({ q: "fox", offset: "1" }, bearer)).accounts.length, 2)
      assert.deepStrictEqual(yield* found({ q: "fox", type: "planets" }, bearer), nothing)
      assert.deepStrictEqual((yield* found({ q: "#fox" }, bearer)).accounts, [])
      const { body } = yield* search({ q: "fox" }, bearer)
      assert.deepInclude(body.hashtags[0], { following: false, featuring: false })
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`UPDATE statuses SET deleted_at = ${now} WHERE id = ${BigInt(id)}`
      assert.deepStrictEqual((yield* found({ q: "fox" }, bearer)).statuses, [])
    }))

  it.effect("row 83: an anonymous search neither pages nor resolves nor reads posts", () =>
    Effect.gen(function*() {
      const paged = yield* search({ q: "fox", offset: "1" })
      assert.deepStrictEqual([paged.status, paged.body.error], [
        401,
        "Search queries pagination is not supported without authentication"
      ])
      const resolved = yield* search({ q: "fox", resolve: "true" })
      assert.deepStrictEqual([resolved.status, resolved.body.error], [
        401,
        "Search queries that resolve remote resources are not supported without authentication"
      ])
      yield* status(yield* person("public_author"), "a public vixen")
      yield* indexed
      assert.deepStrictEqual(yield* found({ q: "vixen" }), nothing)
      assert.strictEqual((yield* search({ q: "fox", resolve: "false" })).status, 200)
    }))

  it.effect("F92, D-016: a query with only operators finds posts, with any bounds", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* person("operating"), yield* person("operated")]
      const bearer = yield* issueToken(anna)
      const [own, other] = [yield* status(anna, "a heron"), yield* status(ben, "@operating an egret")]
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE accounts SET indexable = true WHERE id = ${ben}`
      const marked = yield* status(yield* person("operator_three"), "a bittern")
      yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (next_id(1), ${anna}, ${marked})`
      yield* indexed
      const ids = (...all: ReadonlyArray<bigint>) => all.map(String).toReversed()
      const by = (q: string) => Effect.map(found({ q, type: "statuses" }, bearer), ({ statuses }) => statuses)
      assert.deepStrictEqual(yield* by("from:me"), ids(own))
      assert.deepStrictEqual(yield* by("from:operated"), ids(other))
      assert.deepStrictEqual(yield* by("from:me has:media"), [])
      assert.deepStrictEqual(yield* by("from:me -has:media"), ids(own))
      assert.deepStrictEqual(yield* by("-from:me"), ids(other, marked))
      assert.deepStrictEqual(yield* by("-heron"), ids(other, marked))
      assert.deepStrictEqual(yield* by("in:library"), ids(own, marked))
      assert.deepStrictEqual(yield* by("after:1990-01-01"), ids(own, other, marked))
      assert.deepStrictEqual(yield* by("before:1990-01-01"), [])
      assert.deepStrictEqual(yield* by("-is:reply from:operated after:1990-01-01"), ids(other))
      assert.deepStrictEqual(yield* found({ q: "from:me" }, bearer), { ...nothing, statuses: ids(own) })
    }))

  it.effect("missing or negative parameters are refused with a message", () =>
    Effect.gen(function*() {
      const bearer = yield* issueToken(yield* person("carla"))
      for (const q of [undefined, "", " "]) {
        const { body, status } = yield* search(q === undefined ? {} : { q }, bearer)
        assert.deepStrictEqual([status, body.error], [400, "param is missing or the value is empty or invalid: q"])
      }
      assert.deepStrictEqual(yield* found({ q: "!!! -" }, bearer), nothing)
      for (const more of [{ limit: "-1" }, { offset: "-1" }]) {
        const { body, status } = yield* search({ q: "fox", ...more }, bearer)
        assert.deepStrictEqual([status, body.error], [
          400,
          "Pagination values for `offset` and `limit` must be positive"
        ])
      }
    }))

  it.effect("row 56: a local address is found only by viewers of its target", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* person("dana"), yield* person("emil")]
      const [mine, theirs] = [yield* issueToken(anna), yield* issueToken(ben)]
      const open = yield* status(anna, "open")
      const secret = yield* status(anna, "secret", { visibility: "direct" })
      const at = (path: string) => ({ q: `https://local.example${path}`, resolve: "true" })
      assert.deepStrictEqual(yield* found(at("/@Dana"), theirs), { ...nothing, accounts: ["dana"] })
      assert.deepStrictEqual(yield* found(at("/users/dana"), theirs), { ...nothing, accounts: ["dana"] })
      assert.deepStrictEqual(yield* found(at(`/@dana/${open}`), theirs), { ...nothing, statuses: [String(open)] })
      assert.deepStrictEqual(yield* found(at(`/users/dana/statuses/${secret}`), mine), {
        ...nothing,
        statuses: [String(secret)]
      })
      assert.deepStrictEqual(yield* found(at(`/@dana/${secret}`), theirs), nothing)
      assert.deepStrictEqual(yield* found(at(`/@dana/${"9".repeat(19)}`), theirs), nothing)
      assert.deepStrictEqual(yield* found({ ...at("/@dana"), type: "statuses" }, theirs), nothing)
      assert.deepStrictEqual(yield* found({ q: "https://elsewhere.example/@dana", resolve: "true" }, theirs), nothing)
    }))

  it.effect("row 69: a token needs the scope for it", () =>
    Effect.gen(function*() {
      const anna = yield* person("frida")
      assert.strictEqual((yield* search({ q: "x" }, yield* issueToken(anna, ["read:search"]))).status, 200)
      assert.strictEqual((yield* search({ q: "x" }, yield* issueToken(anna, ["read:statuses"]))).status, 403)
    }))
})
