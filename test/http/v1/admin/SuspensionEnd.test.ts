import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, idsOf, newPerson, settled } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

layer(TestServer.layer(), { excludeTestServices: true })("a suspension that ends", (it) => {
  it.effect("S-022 I3: who was suspended is in the homes of its followers again, also where they were made anew meanwhile", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("moderator0", ["manageUsers"])
      const [bad, reader, other] = [yield* newPerson("bad0"), yield* newPerson("reader0"), yield* newPerson("other0")]
      const follow = (one: Person) => ask(reader, "POST", `/api/v1/accounts/${one.accountId}/follow`)
      const act = (what: string, json: object = {}) =>
        ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/${what}`, json)
      const home = idsOf(reader, "/api/v1/timelines/home")
      yield* follow(bad)
      // An older post is what the home has beyond that of the suspended account: Postgres is asked below it alone.
      const older = String((yield* ask(other, "POST", "/api/v1/statuses", { status: "Older" })).body.id)
      const said = String((yield* ask(bad, "POST", "/api/v1/statuses", { status: "Before it" })).body.id)
      yield* settled
      assert.deepStrictEqual(yield* home, [said])
      yield* act("action", { type: "suspend" })
      yield* follow(other)
      yield* settled
      assert.deepStrictEqual(yield* home, [older])
      yield* act("unsuspend")
      yield* settled
      assert.deepStrictEqual(yield* home, [said, older])
    }))

  it.effect("S-022 I3: so it is in homes and lists that had its posts by a hashtag, or boosted by somebody", () =>
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
      const said = String((yield* ask(bad, "POST", "/api/v1/statuses", { status: "Seen #herons" })).body.id)
      const boost = String((yield* ask(booster, "POST", `/api/v1/statuses/${said}/reblog`)).body.id)
      yield* settled
      const homes = Effect.all([
        idsOf(tagged, "/api/v1/timelines/home"),
        idsOf(fan, "/api/v1/timelines/home")
      ])
      assert.deepStrictEqual(yield* homes, [[said], [boost]])
      yield* act("action", { type: "suspend" })
      // Their homes are made anew while it is suspended, with something older in them.
      for (const one of [tagged, fan]) yield* follow(one, other)
      yield* settled
      assert.deepStrictEqual(yield* homes, [[older], [older]])
      yield* act("unsuspend")
      yield* settled
      assert.deepStrictEqual(yield* homes, [[said, older], [boost, older]])
    }))
})
