import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { ask } from "../../support/Api.ts"
import { countedServer, repeatedIn, runsOf } from "../../support/CountedServer.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

/** Maximum compressed bytes of a page, and of all scripts of a page. */
const [pageBytesMax, scriptBytesMax] = [40_000, 60_000]

layer(countedServer, { excludeTestServices: true })("pages of the composer", (it) => {
  it.effect("take as many statements for forty drafts as for one, and few bytes", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser(ada)
      const save = (status: string) =>
        Effect.all([
          ask(ada, "POST", "/api/v1/drafts", { status }),
          ask(ada, "POST", "/api/v1/statuses", { status, scheduled_at: `20${30 + scheduled++}-01-01T00:00:00Z` })
        ])
      let scheduled = 0
      const costOf = (path: string) =>
        runsOf(Effect.map(browser.get(path), ({ status, text }) => {
          assert.strictEqual(status, 200)
          assert.isBelow(gzipSync(text).length, pageBytesMax, path)
        }))
      const paths = ["/drafts", "/scheduled", "/publish", "/home"]
      yield* save("the first")
      const one = yield* Effect.forEach(paths, costOf)
      for (let at = 0; at < 39; at++) yield* save(`number ${at}`)
      const forty = yield* Effect.forEach(paths, costOf)
      assert.deepStrictEqual(paths.flatMap((_, at) => repeatedIn(one[at]!, forty[at]!)), [])
      const page = yield* browser.get("/publish")
      let bytes = 0
      for (const [, path = ""] of page.text.matchAll(/<script type="module" src="([^"]*)"/g)) {
        bytes += gzipSync((yield* browser.get(path)).text).length
      }
      assert.isAbove(bytes, 1_000)
      assert.isBelow(bytes, scriptBytesMax)
    }))
})
