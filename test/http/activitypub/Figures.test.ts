import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json, newPerson } from "../../support/Api.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, note, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("figures that another server claims", (it) => {
  it.effect("row 39: however large they are, local counting continues", () =>
    Effect.gen(function*() {
      const [ada, eve] = [yield* newPerson("ada"), yield* there("eve")]
      const most = { type: "Collection", totalItems: 1e18 }
      const question = note(eve, "poll", {
        type: "Question",
        cc: [yield* actorOf(ada)],
        oneOf: ["a", "b"].map((name) => ({ type: "Note", name, replies: most })),
        votersCount: 1e18,
        endTime: "2999-01-01T00:00:00Z",
        likes: most,
        shares: most
      })
      assert.strictEqual(yield* deliverFrom(eve, { type: "Create", object: question }), "done")
      const { statuses: [found] } = yield* json(
        ada,
        `/api/v2/search?resolve=true&q=${encodeURIComponent(String(question["id"]))}`
      )
      for (const what of ["favourite", "reblog", "unreblog", "unfavourite", "favourite"]) {
        const response = yield* json(ada, `/api/v1/statuses/${found.id}/${what}`, undefined, "POST")
        assert.strictEqual(response.error, undefined, what)
      }
      const voted = yield* json(ada, `/api/v1/polls/${found.poll.id}/votes`, { choices: [1] })
      assert.isTrue(voted.voted)
      const shown = yield* json(ada, `/api/v1/statuses/${found.id}`)
      assert.isAbove(shown.favourites_count, 1_000_000)
      assert.isAbove(shown.poll.votes_count, 1_000_000)
    }))
})
