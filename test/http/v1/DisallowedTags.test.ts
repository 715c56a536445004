import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"

layer(TestServer.layer(), { excludeTestServices: true })("disallowed hashtags", (it) => {
  it.effect("S-233: a new or edited post with one is refused with an error that names it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("reviewer", ["manageTaxonomies"])
      const anna = yield* newPerson("anna")
      const write = (status: string) => ask(anna, "POST", "/api/v1/statuses", { status })
      const { body: post } = yield* write("#Fine and #Bad")
      const [tag] = yield* sql<{ id: bigint }>`SELECT id FROM tags WHERE name = 'bad'`
      assert.strictEqual((yield* ask(by, "PUT", `/api/v1/admin/tags/${tag?.id}`, { usable: false })).status, 200)
      const refused = yield* write("more #bad")
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        "Validation failed: Text contained a disallowed hashtag: Bad"
      ])
      const edit = (status: string) => ask(anna, "PUT", `/api/v1/statuses/${post.id}`, { status })
      assert.strictEqual((yield* edit("#fine, #BAD")).status, 422)
      assert.strictEqual((yield* edit("#fine")).status, 200)
      assert.strictEqual((yield* ask(by, "PUT", `/api/v1/admin/tags/${tag?.id}`, { usable: true })).status, 200)
      assert.strictEqual((yield* write("more #bad")).status, 200)
    }))
})
