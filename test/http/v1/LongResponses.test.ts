import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { publishedId } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

const codings = ["identity", "gzip", "br"]

layer(TestServer.layer(), { excludeTestServices: true })("long responses", (it) => {
  it.effect("are complete for all callers, concurrently and repeatedly, in every encoding", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const anna = yield* createPerson("anna")
      const root = yield* publishedId(anna, "The first one 🐦")
      for (let n = 0; n < 40; n++) yield* publishedId(anna, `${n} ${"ñandú 🐦 ".repeat(50)}`, { in_reply_to_id: root })
      const getEncoded = Effect.fnUntraced(function*(path: string, coding: string) {
        const response = yield* fetch(path, {
          token: anna.token,
          headers: { "accept-encoding": coding }
        })
        const { headers, status } = response
        return { headers, status, text: yield* Effect.promise(() => response.text()) }
      })
      for (
        const [path, count] of [
          ["/api/v1/timelines/home?limit=40", 40],
          [`/api/v1/accounts/${anna.accountId}/statuses?limit=40`, 40],
          [`/api/v1/statuses/${root}/context`, 40]
        ] as const
      ) {
        // A home that is still being rebuilt (206) is not compressed.
        const first = yield* eventually(getEncoded(path, "identity"), ({ status }) => status === 200)
        assert.isAbove(first.text.length, 40_000)
        const value: ReadonlyArray<unknown> | { readonly descendants: ReadonlyArray<unknown> } = JSON.parse(first.text)
        assert.lengthOf("descendants" in value ? value.descendants : value, count)
        const asked = Array.from({ length: 24 }, (_, n) => codings[n % codings.length] ?? "identity")
        const responses = yield* Effect.forEach(asked, (coding) => getEncoded(path, coding), { concurrency: 6 })
        for (const [n, { headers, status, text }] of responses.entries()) {
          assert.strictEqual(status, 200)
          const coding = asked[n] === "identity" ? null : asked[n]
          assert.strictEqual(headers.get("content-encoding"), coding)
          assert.strictEqual(text, first.text, `${path} ${coding}`)
        }
      }
    }))
})
