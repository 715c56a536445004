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
})
