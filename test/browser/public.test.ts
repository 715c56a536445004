import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"

const widths = [1280, 768, 390]

layer(Layer.merge(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), Browser.layer), {
  excludeTestServices: true,
  timeout: "3 minutes"
})(
  "public pages in a browser",
  (it) => {
    it.effect("a profile, a thread and the way to one's own server look well to visitors", () =>
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
            for (const width of widths) {
              await page.setViewportSize({ width, height: 900 })
              for (const scheme of ["light", "dark"] as const) {
                await page.emulateMedia({ colorScheme: scheme })
                const by = await (scheme === "light" ? axeFinds : axeFindsInColors)(page)
                found.push(...by.map((one) => `${path} ${width} ${scheme}: ${one}`))
                await picture(page, `public-${name}-${width}-${scheme}`)
              }
              if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) {
                found.push(`${path} is wider than ${width}`)
              }
            }
          }
          assert.deepStrictEqual(found, [])
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
