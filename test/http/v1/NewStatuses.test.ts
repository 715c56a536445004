import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"

const texts = {
  plain: { status: "hello" },
  warned: { status: "hello #tag @ben", spoiler_text: "careful", language: "de", visibility: "unlisted" },
  private: { status: "for few", visibility: "private", quote_approval_policy: "followers" },
  direct: { status: "@ben alone", visibility: "direct" },
  unquoted: { status: "nobody quotes", quote_approval_policy: "nobody" },
  controlled: { status: "few may answer", interaction_policy: { can_reply: { always: ["followers"] } } },
  local: { status: "here", local_only: true }
}

layer(TestServer.layer(), { excludeTestServices: true })("new statuses", (it) => {
  it.effect("S-046: are returned as their author reads them a moment later", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const [{ token }] = [yield* createPerson("anna"), yield* createPerson("ben")]
      const request = Effect.fnUntraced(function*(path: string, json?: object, key?: string) {
        const response = yield* fetch(path, {
          token,
          ...(json === undefined ? {} : { method: "POST", json }),
          ...(key === undefined ? {} : { headers: { "idempotency-key": key } })
        })
        assert.strictEqual(response.status, 200)
        return (yield* Effect.promise(() => response.json())) as { readonly id: string }
      })
      yield* request("/api/v2/filters", {
        title: "greetings",
        context: ["home"],
        keywords_attributes: [{ keyword: "hello" }]
      })
      for (const [name, text] of Object.entries(texts)) {
        const created = yield* request("/api/v1/statuses", text, name)
        assert.deepStrictEqual(created, yield* request(`/api/v1/statuses/${created.id}`), name)
        yield* request(`/api/v1/statuses/${created.id}/favourite`, {})
        // A repeated command returns the changed state.
        const again = yield* request("/api/v1/statuses", text, name)
        assert.deepStrictEqual(again, yield* request(`/api/v1/statuses/${created.id}`), name)
        assert.strictEqual(again.id, created.id)
      }
      const reply = yield* request("/api/v1/statuses", {
        status: "and",
        in_reply_to_id: (yield* request("/api/v1/statuses", texts.plain)).id
      })
      assert.deepStrictEqual(reply, yield* request(`/api/v1/statuses/${reply.id}`))
    }))
})
