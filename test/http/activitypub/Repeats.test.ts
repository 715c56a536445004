import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { answer, eventually } from "./Exchange.ts"
import { sendBody, servers, settled } from "./Sending.ts"
import { actorOf, json, person, there, told } from "./Talking.ts"

const began = Date.now() - 60_000

/** What the other server's shared inbox got of a type. */
const delivered = Effect.map(
  Effect.sync((): Array<Json> => []),
  (got) => ({
    got,
    listen: answer("/inbox", (request, response) => {
      let text = ""
      request.on("data", (part) => text += String(part))
      request.on("end", () => {
        got.push(JSON.parse(text))
        response.writeHead(202).end()
      })
    })
  })
)

layer(servers, { excludeTestServices: true, timeout: "2 minutes" })("follows that come again", (it) => {
  it.effect("row 78, F18: a follow under the same id counts again after its end, and no copy of what was signed before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, zoe] = [yield* person("anna"), yield* there("zoe")]
      const { got, listen } = yield* delivered
      yield* listen
      const accepts = (count: number) =>
        eventually(Effect.sync(() => got.filter(({ type }) => type === "Accept").length === count || undefined))
      const me = yield* actorOf(anna)
      const head = { "@context": "https://www.w3.org/ns/activitystreams", actor: zoe.id }
      const follow = { ...head, id: `${zoe.id}/follows/anna`, type: "Follow", object: me }
      /** Whether Zoe follows Anna after this was sent, signed so many seconds after all began. */
      const after = Effect.fnUntraced(function*(activity: Json, seconds: number) {
        assert.strictEqual(yield* sendBody(zoe, JSON.stringify(activity), "/inbox", began + seconds * 1_000), 202)
        yield* settled
        return (yield* sql`SELECT FROM follows WHERE target_account_id = ${anna.accountId}`).length === 1
      })
      assert.isTrue(yield* after(follow, 0))
      yield* accepts(1)
      // A copy changes nothing and is answered by nothing; another try is told once more.
      assert.isTrue(yield* after(follow, 0))
      assert.isTrue(yield* after(follow, 2))
      yield* accepts(2)
      assert.deepStrictEqual(yield* told(anna), ["follow zoe"])

      assert.isFalse(yield* after({ ...head, id: `${zoe.id}/undo/1`, type: "Undo", object: follow }, 10))
      // Copies, and a try that was late, are older than the end.
      for (const seconds of [0, 2, 5, 10]) assert.isFalse(yield* after(follow, seconds), String(seconds))
      assert.isTrue(yield* after(follow, 12))
      yield* accepts(3)
      assert.isFalse(yield* after({ ...head, id: `${zoe.id}/undo/2`, type: "Undo", object: follow.id }, 14))
      assert.isFalse(yield* after(follow, 13))
      assert.isTrue(yield* after(follow, 16))

      // Whom it is for ends it too.
      const [{ account }] = yield* json(anna, "/api/v1/notifications")
      yield* json(anna, `/api/v1/accounts/${account.id}/remove_from_followers`, {})
      for (const seconds of [0, 12, 16]) assert.isFalse(yield* after(follow, seconds), String(seconds))
      assert.isTrue(yield* after(follow, 20))
      // Whatever else comes again under its id comes in vain.
      const like = { ...head, id: `${zoe.id}/likes/1`, type: "Like", object: me }
      yield* after(like, 0)
      const count = sql`SELECT count(*)::int AS n FROM inbound_activities WHERE outcome IS NULL`
      const before = yield* sql`SELECT id FROM inbound_activities ORDER BY id`
      yield* after(like, 30)
      assert.deepStrictEqual(yield* sql`SELECT id FROM inbound_activities ORDER BY id`, before)
      assert.deepStrictEqual(yield* count, [{ n: 0 }])
    }))
})
