import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Status } from "../../../src/http/wire/Status.ts"
import { ask, call } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const fire = encodeURIComponent("🔥")
const at = (id: string, more: string) => `/api/v1/statuses/${id}/${more}`
const reactionOf = (id: string) => `/api/v1/pleroma/statuses/${id}/reactions/${fire}`

/** Calls that set and undo each interaction. */
const marks: ReadonlyArray<readonly [set: [string, (id: string) => string], undo: [string, (id: string) => string]]> = [
  [["POST", (id) => at(id, "favourite")], ["POST", (id) => at(id, "unfavourite")]],
  [["POST", (id) => at(id, "reblog")], ["POST", (id) => at(id, "unreblog")]],
  [["POST", (id) => at(id, "bookmark")], ["POST", (id) => at(id, "unbookmark")]],
  [["PUT", reactionOf], ["DELETE", reactionOf]]
]
const marksOf = ({ bookmarked, emoji_reactions: reactions, favourited, reblogged }: Status) => ({
  bookmarked,
  favourited,
  reblogged,
  reacted: reactions?.some(({ me }) => me) ?? false
})
const unmarked = { bookmarked: false, favourited: false, reblogged: false, reacted: false }

layer(TestServer.layer(), { excludeTestServices: true })("undone interactions", (it) => {
  it.effect("S-064, S-065, S-127: interactions are set and undone by the id of a status or of any boost of it", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [anna, ben, cleo] = [yield* createPerson("anna"), yield* createPerson("ben"), yield* createPerson("cleo")]
      const { id } = (yield* call("POST", "/api/v1/statuses", anna.token, { status: "An egg" })).body
      const boost = (yield* ask(cleo, "POST", at(id, "reblog"))).body.id
      const own = (yield* ask(ben, "POST", at(id, "reblog"))).body.id
      yield* ask(ben, "POST", at(id, "unreblog"))
      const read = Effect.map(ask(ben, "GET", `/api/v1/statuses/${id}`), ({ body }) => body)
      const before = yield* read
      assert.deepStrictEqual(marksOf(before), unmarked)
      for (const [set, undo] of marks) {
        yield* ask(ben, set[0], set[1](boost))
        assert.notDeepEqual(marksOf(yield* read), unmarked, undo[1](boost))
        const { body, status } = yield* ask(ben, undo[0], undo[1](boost))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(marksOf(body.reblog ?? body), unmarked, undo[1](boost))
        assert.deepStrictEqual(yield* read, before, undo[1](boost))
      }

      // By the id of the user's own boost, which this deletes, and once more.
      const again = (yield* ask(ben, "POST", at(id, "reblog"))).body.id
      assert.notStrictEqual(again, own)
      assert.strictEqual((yield* ask(ben, "POST", at(again, "unreblog"))).body.id, id)
      assert.deepStrictEqual(yield* read, before)
      assert.strictEqual((yield* ask(ben, "POST", at(again, "unreblog"))).status, 404)
      assert.strictEqual((yield* ask(ben, "POST", at(own, "unfavourite"))).status, 404)

      // Viewers who cannot see the boost learn nothing, and keep their interactions.
      for (const [[method, path]] of marks) yield* ask(ben, method, path(id))
      yield* ask(cleo, "POST", `/api/v1/accounts/${ben.accountId}/block`)
      const marked = yield* read
      for (const [, [method, path]] of marks) {
        assert.strictEqual((yield* ask(ben, method, path(boost))).status, 404, path(boost))
      }
      assert.deepStrictEqual(yield* read, marked)
    }))
})
