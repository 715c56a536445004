import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const poll = { options: ["a", "b"], expires_in: 3_600 }
/**
 * Interactions by path, and the HTTP status when the viewer blocks the author, and when the author blocks the viewer.
 */
const interactions = [
  { path: "favourite", blocking: 403, blocked: 404 },
  { path: "reblog", blocking: 403, blocked: 404 },
  { path: "bookmark", blocking: 200, blocked: 404 }
]

layer(TestServer.layer(), { excludeTestServices: true })("interactions across a block", (it) => {
  it.effect("F72: blocks prevent favourites, boosts and votes; replies and bookmarks are as in Mastodon", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      const { body } = yield* ask(bob, "POST", "/api/v1/statuses", { status: "Hello", poll })
      const block = (by: typeof ada, other: typeof ada, verb: string) =>
        ask(by, "POST", `/api/v1/accounts/${other.accountId}/${verb}`, {})
      const tried = Effect.gen(function*() {
        const found: Array<number> = []
        for (const { path } of interactions) {
          found.push((yield* ask(ada, "POST", `/api/v1/statuses/${body.id}/${path}`, {})).status)
        }
        found.push((yield* ask(ada, "POST", `/api/v1/polls/${body.poll.id}/votes`, { choices: [0] })).status)
        found.push((yield* ask(ada, "POST", "/api/v1/statuses", { status: "yes", in_reply_to_id: body.id })).status)
        return found
      })
      yield* block(ada, bob, "block")
      assert.deepStrictEqual(yield* tried, [...interactions.map(({ blocking }) => blocking), 403, 200])
      yield* block(ada, bob, "unblock")
      yield* block(bob, ada, "block")
      assert.deepStrictEqual(yield* tried, [...interactions.map(({ blocked }) => blocked), 404, 404])
      yield* block(bob, ada, "unblock")
      assert.deepStrictEqual(yield* tried, [...interactions.map(() => 200), 200, 200])
    }))
})
