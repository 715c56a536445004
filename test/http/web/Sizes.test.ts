import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true, timeout: "2 minutes" })("sizes of pages", (it) => {
  it.effect("Home of 20 posts has at most 40 kB, a public post at most 15 kB, compressed", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      let last = ""
      for (let at = 0; at < 20; at++) {
        const { body } = yield* ask(ada, "POST", "/api/v1/statuses", {
          status: `Post ${at}: ${"words of some length ".repeat(12)}`
        })
        last = String(body.id)
      }
      const browser = yield* staffBrowser(ada)
      const sizeOf = Effect.fnUntraced(function*(reader: typeof browser, path: string) {
        const { headers, status } = yield* reader.request(path, { headers: { "accept-encoding": "br" } })
        assert.strictEqual(status, 200)
        assert.strictEqual(headers.get("content-encoding"), "br", path)
        return Number(headers.get("content-length"))
      })
      assert.isBelow(yield* sizeOf(browser, "/home"), 40_000)
      assert.isBelow(yield* sizeOf(yield* staffBrowser(), `/@ada/${last}`), 15_000)
    }))
})
