import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Status } from "../../../src/http/wire/Status.ts"
import { catchupStatusesMax } from "../../../src/services/feeds/Catchups.ts"
import { call, newPerson, publishedId } from "../../support/Api.ts"
import { filter } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const boost = (by: Person, id: string) => call("POST", `/api/v1/statuses/${id}/reblog`, by.token)
const texts = (by: Person, query = "") =>
  Effect.flatMap(call("GET", `/api/v1/timelines/catchup${query}`, by.token), ({ body }) =>
    Effect.map(
      Schema.decodeUnknownEffect(Schema.Array(Status))(body),
      (found) => found.map(({ content, reblog }) => (reblog?.content ?? content).replaceAll(/<[^>]*>/g, ""))
    ))

layer(TestServer.layer(), { excludeTestServices: true })("catch-ups", (it) => {
  it.effect("D-011: show posts since a time: quiet people first, a boosted post once, nothing hidden", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [me, loud, quiet, stranger] = [
        yield* newPerson("me"),
        yield* newPerson("loud"),
        yield* newPerson("quiet"),
        yield* newPerson("stranger")
      ]
      for (const { accountId } of [loud, quiet]) yield* call("POST", `/api/v1/accounts/${accountId}/follow`, me.token)
      yield* publishedId(quiet, "quiet one")
      for (let n = 1; n <= 4; n++) yield* publishedId(loud, `loud ${n}`)
      const far = yield* publishedId(stranger, "from afar")
      yield* boost(quiet, far)
      yield* boost(loud, far)
      const last = yield* publishedId(loud, "loud 5")
      yield* boost(quiet, last)
      yield* publishedId(me, "my own")
      const old = yield* publishedId(quiet, "yesterday")
      yield* publishedId(loud, "@stranger not for me", { visibility: "direct" })

      // The loud account's boost is the newest of the stranger's post; a followed account's own post counts by itself.
      const all = ["yesterday", "quiet one", "from afar", "loud 5", "loud 4", "loud 3", "loud 2", "loud 1"]
      const found = yield* texts(me)
      assert.sameMembers(found, all)
      assert.deepStrictEqual(found.slice(0, 2), ["yesterday", "quiet one"])
      assert.deepStrictEqual(found.filter((text) => text.startsWith("loud")), [
        "loud 5",
        "loud 4",
        "loud 3",
        "loud 2",
        "loud 1"
      ])
      assert.deepStrictEqual(yield* texts(me, "?limit=2&offset=1"), found.slice(1, 3))
      assert.deepStrictEqual(yield* texts(me, "?offset=100"), [])
      assert.deepStrictEqual(yield* texts(stranger), [])

      const since = new Date(Number(BigInt(old) >> 16n)).toISOString()
      assert.deepStrictEqual(yield* texts(me, `?since=${since}`), ["yesterday"])
      assert.deepStrictEqual(yield* texts(me, `?since=${Math.floor(Date.now() / 1_000) + 60}`), [])
      assert.sameMembers(yield* texts(me, "?since=1970-01-01"), all)
      const refused = yield* call("GET", "/api/v1/timelines/catchup?since=nonsense", me.token)
      assert.deepStrictEqual([refused.status, refused.body.error], [422, "Validation failed: Since is invalid"])
      assert.strictEqual((yield* call("GET", "/api/v1/timelines/catchup", undefined)).status, 401)

      yield* filter(me, { filter_action: "hide", keywords_attributes: [{ keyword: "yesterday" }] })
      yield* call("POST", `/api/v1/accounts/${stranger.accountId}/mute`, me.token)
      const left = all.filter((text) => text !== "yesterday" && text !== "from afar")
      assert.sameMembers(yield* texts(me), left)
      assert.lengthOf(yield* texts(me, "?limit=1"), 1)
      const { body } = yield* call("GET", "/api/v2/instance", undefined)
      assert.deepStrictEqual(body.configuration.catchup, { max_statuses: catchupStatusesMax, max_hours: 72 })
      assert.isAbove((yield* sql`SELECT 1 FROM statuses`).length, all.length)
    }))
})
