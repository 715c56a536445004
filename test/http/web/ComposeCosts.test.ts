import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { gzipSync } from "node:zlib"
import { ask } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { counting } from "../../support/StatementCounter.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Number of statements that the server has run. */
class Statements extends Context.Service<Statements, () => number>()("murmuration/test/ComposeStatements") {}

const counted = Layer.unwrap(Effect.gen(function*() {
  const { statements, url } = yield* counting((yield* TestDatabase).url)
  return Layer.merge(TestServer.layerOnly({ DATABASE_URL: url }), Layer.succeed(Statements, statements))
})).pipe(Layer.provideMerge(TestDatabase.layer))

/** Maximum compressed bytes of a page, and of all scripts of a page. */
const [pageBytesMax, scriptBytesMax] = [40_000, 60_000]

layer(counted, { excludeTestServices: true, timeout: "1 minute" })("pages of the composer", (it) => {
  it.effect("take as many statements for forty drafts as for one, and few bytes", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const statements = yield* Statements
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser(ada)
      const save = (status: string) =>
        Effect.all([
          ask(ada, "POST", "/api/v1/drafts", { status }),
          ask(ada, "POST", "/api/v1/statuses", { status, scheduled_at: `20${30 + scheduled++}-01-01T00:00:00Z` })
        ])
      let scheduled = 0
      /** Fewest statements of several requests: the server's own work runs beside them. */
      const costOf = Effect.fnUntraced(function*(path: string) {
        let least = Number.POSITIVE_INFINITY
        for (let round = 0; round < 5; round++) {
          const before = statements()
          const { status, text } = yield* browser.get(path)
          least = Math.min(least, statements() - before)
          assert.strictEqual(status, 200)
          assert.isBelow(gzipSync(text).length, pageBytesMax, path)
        }
        return least
      })
      const paths = ["/drafts", "/scheduled", "/publish", "/home"]
      yield* save("the first")
      const one = yield* Effect.forEach(paths, costOf)
      for (let at = 0; at < 39; at++) yield* save(`number ${at}`)
      assert.deepStrictEqual(yield* Effect.forEach(paths, costOf), one)
      const page = yield* browser.get("/publish")
      let bytes = 0
      for (const [, path = ""] of page.text.matchAll(/<script type="module" src="([^"]*)"/g)) {
        bytes += gzipSync((yield* browser.get(path)).text).length
      }
      assert.isAbove(bytes, 1_000)
      assert.isBelow(bytes, scriptBytesMax)
    }))
})
