import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

const widths = [1280, 768, 390]

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the web in a browser",
  (it) => {
    it.effect("Home looks well at three widths in light and dark, and acts in place", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
        yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`, {})
        const write = (json: Record<string, unknown>) => ask(bob, "POST", "/api/v1/statuses", json)
        const { body: root } = yield* write({ status: "A first post with a #tag and https://example.org/a/long/path" })
        yield* write({ status: "@ada what do you think?", in_reply_to_id: root.id })
        yield* write({ status: "It ends well", spoiler_text: "The end of the film" })
        yield* write({ status: "Tea or coffee?", poll: { options: ["Tea", "Coffee"], expires_in: 3_600 } })
        for (let at = 0; at < 20; at++) yield* write({ status: `Post ${at} of a long day` })
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/home`)
          await signIn(page, ada)
          const found: Array<string> = []
          for (const path of ["/home", "/public/local", "/favourites"]) {
            await page.goto(baseUrl + path)
            for (const width of widths) {
              await page.setViewportSize({ width, height: 900 })
              for (const scheme of ["light", "dark"] as const) {
                await page.emulateMedia({ colorScheme: scheme })
                const by = await (scheme === "light" ? axeFinds : axeFindsInColors)(page)
                found.push(...by.map((one) => `${path} ${width} ${scheme}: ${one}`))
                await picture(page, `web${path.replaceAll("/", "-")}-${width}-${scheme}`)
              }
              const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
              if (wide === true) found.push(`${path} is wider than ${width}`)
            }
          }
          assert.deepStrictEqual(found, [])
          // A favourite in the middle of the list: the article is replaced; scroll position and focus are kept.
          await page.goto(`${baseUrl}/home`)
          const article = page.locator("article").nth(10)
          const button = article.locator(`button[value="favourite"]`)
          await button.scrollIntoViewIfNeeded()
          const before = await page.evaluate("scrollY")
          await button.focus()
          await page.keyboard.press("Enter")
          await article.locator(`button[value="unfavourite"]`).waitFor()
          assert.strictEqual(await page.evaluate("scrollY"), before)
          assert.strictEqual(await page.evaluate("document.activeElement.value"), "unfavourite")
          assert.strictEqual(new URL(page.url()).pathname, "/home")
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
