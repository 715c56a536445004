import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId, settled } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, picture } from "./Browser.ts"
import { pictureName } from "./EveryWidth.ts"
import { at } from "./LivePages.ts"

/** Returns what is wider than the window or cut off by its own box. */
const cut = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : []),
  ...[...document.querySelectorAll("main button, main .button, nav a, nav summary")]
    .filter((one) => one.checkVisibility() && !one.matches(".unseen, :has(.unseen)") && one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.textContent.trim())
]`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the web, enlarged",
  (it) => {
    it.effect("fits at 200% and 400% of a desk, with text of twice its size, and does not move for those who want rest", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [rea, sam] = [yield* createPerson("rea"), yield* createPerson("sam")]
        yield* ask(rea, "POST", `/api/v1/accounts/${sam.accountId}/follow`, {})
        const id = yield* publishedId(sam, "@rea a post with https://example.org/a/long/path and #tags")
        yield* publishedId(sam, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft")
        yield* settled
        const { page, problems } = yield* at(rea)
        const found: Array<string> = []
        yield* Effect.promise(async () => {
          await page.emulateMedia({ reducedMotion: "reduce" })
          for (
            const path of [
              "/home",
              "/notifications",
              "/publish",
              `/publish?reply_to=${id}`,
              `/@sam/${id}`,
              "/@sam",
              "/conversations",
              "/search?q=sam",
              "/lists",
              "/settings",
              "/settings/profile",
              "/settings/interactions",
              "/settings/filters",
              "/about"
            ]
          ) {
            // WCAG 2.2, 1.4.4 and 1.4.10: 640 and 320 pixels are a window of 1,280 at 200% and 400%.
            for (const [width, size] of [[640, "100%"], [320, "100%"], [1_280, "200%"]] as const) {
              await page.setViewportSize({ width, height: 600 })
              await page.goto(baseUrl + path)
              await page.evaluate(`document.documentElement.style.fontSize = "${size}"`)
              const wrong = await page.evaluate<ReadonlyArray<string>>(cut)
              found.push(...wrong.map((one) => `${path} ${width} ${size}: ${one}`))
              await picture(page, `zoom-${width}-${size.slice(0, 3)}${pictureName(path)}`)
            }
            const moving = await page.evaluate(
              `document.getAnimations().filter(({ playState }) => playState === "running").length`
            )
            assert.strictEqual(moving, 0, path)
          }
        })
        assert.deepStrictEqual(found, [])
        assert.deepStrictEqual(problems, [])
      }))
  }
)
