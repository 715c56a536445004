import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, idsOf, newPerson, settled } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

/** Returns the API's path of an account. */
const path = (one: { readonly accountId: bigint }, action = "") => `/api/v1/admin/accounts/${one.accountId}${action}`

layer(TestServer.layer(), { excludeTestServices: true })("concurrent actions, and a suspension that ends", (it) => {
  it.effect("S-022 I3: after a suspension the account is back in its followers' homes, also in rebuilt ones", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("moderator0", ["manageUsers"])
      const [bad, reader, other] = [yield* newPerson("bad0"), yield* newPerson("reader0"), yield* newPerson("other0")]
      const follow = (one: Person) => ask(reader, "POST", `/api/v1/accounts/${one.accountId}/follow`)
      const act = (what: string, json: object = {}) =>
        ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/${what}`, json)
      const home = idsOf(reader, "/api/v1/timelines/home")
      yield* follow(bad)
      // An older post is all that the home has besides the suspended account's, so Postgres is only queried below it.
      const older = String((yield* ask(other, "POST", "/api/v1/statuses", { status: "Older" })).body.id)
      const posted = String((yield* ask(bad, "POST", "/api/v1/statuses", { status: "Before it" })).body.id)
      yield* settled
      assert.deepStrictEqual(yield* home, [posted])
      yield* act("action", { type: "suspend" })
      yield* follow(other)
      yield* settled
      assert.deepStrictEqual(yield* home, [older])
      yield* act("unsuspend")
      yield* settled
      assert.deepStrictEqual(yield* home, [posted, older])
    }))

  it.effect("S-022 I3: it is also back in homes and lists that had its posts by a hashtag or a boost", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("moderator1", ["manageUsers"])
      const names = ["bad1", "tagged1", "lister1", "fan1", "booster1", "other1"] as const
      const [bad, tagged, lister, fan, booster, other] = yield* Effect.all([
        newPerson(names[0]),
        newPerson(names[1]),
        newPerson(names[2]),
        newPerson(names[3]),
        newPerson(names[4]),
        newPerson(names[5])
      ])
      const act = (what: string, json: object = {}) =>
        ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/${what}`, json)
      const follow = (one: Person, whom: Person) => ask(one, "POST", `/api/v1/accounts/${whom.accountId}/follow`)
      yield* ask(tagged, "POST", "/api/v1/tags/herons/follow")
      const { body: list } = yield* ask(lister, "POST", "/api/v1/lists", { title: "Birds" })
      yield* ask(lister, "POST", `/api/v1/lists/${list.id}/tags`, { tags: ["herons"] })
      yield* follow(fan, booster)
      const older = String((yield* ask(other, "POST", "/api/v1/statuses", { status: "Older" })).body.id)
      const posted = String((yield* ask(bad, "POST", "/api/v1/statuses", { status: "Seen #herons" })).body.id)
      const boost = String((yield* ask(booster, "POST", `/api/v1/statuses/${posted}/reblog`)).body.id)
      yield* settled
      const homes = Effect.all([
        idsOf(tagged, "/api/v1/timelines/home"),
        idsOf(fan, "/api/v1/timelines/home")
      ])
      assert.deepStrictEqual(yield* homes, [[posted], [boost]])
      yield* act("action", { type: "suspend" })
      // Their homes are rebuilt during the suspension, with an older post in them.
      for (const one of [tagged, fan]) yield* follow(one, other)
      yield* settled
      assert.deepStrictEqual(yield* homes, [[older], [older]])
      yield* act("unsuspend")
      yield* settled
      assert.deepStrictEqual(yield* homes, [[posted, older], [boost, older]])
    }))

  it.effect("S-022 S-234: of two moderators with the same concurrent action one succeeds, the other is notified, the log has both", () =>
    Effect.gen(function*() {
      const bits = ["manageUsers", "manageReports", "deleteUserData", "manageUserAccess"] as const
      const two = [yield* staffMember("fast7", bits), yield* staffMember("slow7", bits)] as const
      const bad = yield* newPerson("bad7")
      const { body: post } = yield* ask(bad, "POST", "/api/v1/statuses", { status: "Hello" })
      const posts = { status_ids: [post.id] }
      const races: ReadonlyArray<
        readonly [act: string, method: string, path: string, json: object, refusal: number]
      > = [
        ["account silence", "POST", path(bad, "/action"), { type: "silence" }, 422],
        ["account sensitive", "POST", path(bad, "/action"), { type: "sensitive" }, 422],
        ["account disable", "POST", path(bad, "/action"), { type: "disable" }, 422],
        ["status update", "POST", "/api/v1/admin/status_actions", { ...posts, type: "mark_as_sensitive" }, 422],
        ["status destroy", "POST", "/api/v1/admin/status_actions", { ...posts, type: "delete" }, 422],
        ["account memorialize", "POST", path(bad, "/memorialize"), {}, 403],
        ["account suspend", "POST", path(bad, "/action"), { type: "suspend" }, 422],
        ["account unsuspend", "POST", path(bad, "/unsuspend"), {}, 403]
      ]
      for (const [act, method, to, json, refusal] of races) {
        const responses = yield* Effect.all(two.map((by) => ask(by, method, to, json)), { concurrency: "unbounded" })
        assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, refusal], act)
        const late = responses.findIndex(({ status }) => status === refusal)
        const [lost] = yield* auditEntries(two[late]!.accountId)
        assert.deepStrictEqual([lost?.act, lost?.after], [act, { refused: responses[late]!.body.error }])
        const won = yield* auditEntries(two[1 - late]!.accountId)
        assert.include(won.map((entry) => entry.act), act)
        assert.notProperty(won.find((entry) => entry.act === act)?.after ?? {}, "refused")
      }
    }))

  it.effect("S-022: an account's posts after its suspension are refused, and none is shown", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("moderator6", ["manageUsers"])
      const bad = yield* newPerson("bad6")
      const posts = Effect.forEach(
        Array.from({ length: 12 }, (_, at) => at),
        (at) => ask(bad, "POST", "/api/v1/statuses", { status: `Post ${at}` }),
        { concurrency: 4 }
      )
      const [responses, suspended] = yield* Effect.all([
        posts,
        ask(moderator, "POST", path(bad, "/action"), { type: "suspend" })
      ], { concurrency: "unbounded" })
      assert.strictEqual(suspended.status, 200)
      assert.strictEqual((yield* ask(bad, "POST", "/api/v1/statuses", { status: "Later" })).status, 403)
      for (const { body, status } of responses) {
        // A post that is no longer visible to its author is refused like later ones.
        assert.include([200, 403], status)
        if (status === 403) assert.deepStrictEqual(body, { error: "Your login is currently disabled" })
        if (status === 200) {
          assert.strictEqual((yield* ask(undefined, "GET", `/api/v1/statuses/${body.id}`)).status, 404)
        }
      }
    }))
})
