import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, visit } from "./Browser.ts"
import { findingsAtEveryWidth } from "./EveryWidth.ts"

layer(Layer.merge(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), Browser.layer), {
  excludeTestServices: true
})(
  "public pages in a browser",
  (it) => {
    it.effect("a profile, a thread and the way to the visitor's own server look well to visitors", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
        const write = (by: typeof ada, json: Record<string, unknown>) => ask(by, "POST", "/api/v1/statuses", json)
        const { body: root } = yield* write(ada, { status: "A first post with a #tag" })
        yield* write(ada, { status: "It goes on", in_reply_to_id: root.id })
        const { body: reply } = yield* write(bob, { status: "@ada what else?", in_reply_to_id: root.id })
        yield* write(ada, { status: "@bob the end", spoiler_text: "The end", in_reply_to_id: reply.id })
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          const found: Array<string> = []
          const uri = new URLSearchParams({ uri: `${baseUrl}/@ada` })
          const paths = [["profile", "/@ada"], ["thread", `/@ada/${root.id}`], [
            "interact",
            `/interact?${uri}`
          ]] as const
          for (const [name, path] of paths) {
            await page.goto(baseUrl + path)
            found.push(...await findingsAtEveryWidth(page, path, `public-${name}`))
          }
          assert.deepStrictEqual(found, [])
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
