import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { ask, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { counting } from "../../support/StatementCounter.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Number of statements that the server has run. */
class Statements extends Context.Service<Statements, () => number>()("murmuration/test/web/Statements") {}

const counted = Layer.unwrap(Effect.gen(function*() {
  const { statements, url } = yield* counting((yield* TestDatabase).url)
  return Layer.merge(TestServer.layerOnly({ DATABASE_URL: url }), Layer.succeed(Statements, statements))
})).pipe(Layer.provideMerge(TestDatabase.layer))

/** Statements that background work may add while a page is read. */
const noise = 6

layer(counted, { excludeTestServices: true, timeout: "3 minutes" })("queries of pages", (it) => {
  it.effect("do not grow with the posts on the page", () =>
    Effect.gen(function*() {
      const statements = yield* Statements
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser(ada)
      const root = yield* publishedId(ada, "the root #cats")
      const paths = ["/home", `/@ada/${root}`, "/@ada/with_replies", "/tags/cats"]
      const countOf = Effect.fnUntraced(function*(path: string) {
        const counts: Array<number> = []
        for (let at = 0; at < 3; at++) {
          const before = statements()
          assert.strictEqual((yield* browser.get(path)).status, 200)
          counts.push(statements() - before)
        }
        return Math.min(...counts)
      })
      const few = yield* Effect.forEach(paths, countOf)
      for (let at = 0; at < 40; at++) {
        yield* ask(ada, "POST", "/api/v1/statuses", { status: `reply ${at} #cats`, in_reply_to_id: root })
      }
      const many = yield* Effect.forEach(paths, countOf)
      for (const [at, path] of paths.entries()) {
        assert.isAtMost(many[at]!, few[at]! + noise, path)
        assert.isAtMost(many[at]!, 40, path)
      }
      // The 40 replies of the author are folded below their post.
      const { text } = yield* browser.get("/home")
      assert.include(text, "class=\"feed\"")
    }))
})
