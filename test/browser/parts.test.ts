import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { staffBrowser } from "../support/StaffBrowser.ts"
import { Browser } from "./Browser.ts"

/** Number of places at which a page is cut, after the start of its content. */
const cutsOfPage = 3

/** Widths and heights of a phone and a desktop. */
const sizes = [{ width: 390, height: 844 }, { width: 1280, height: 800 }]

/** Positions of the page's headings and rows, in order of the document. */
const positions = `[...document.querySelectorAll("main, main h1, main h2, main article, main thead, main tr")]
  .map((one) => [one.localName, one.getBoundingClientRect().left, one.getBoundingClientRect().top].join(" "))`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "pages that arrive in parts",
  (it) => {
    it.effect("F341: what is shown of the first part of a page does not move when the rest arrives", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const owner = yield* staffMember("olga", ["administrator"])
        for (let at = 0; at < 6; at++) {
          yield* ask(owner, "POST", "/api/v1/statuses", { status: `Post ${at}. ${"word ".repeat(9 * at)}` })
        }
        const [member, visitor, chromium] = [yield* staffBrowser(owner), yield* staffBrowser(), yield* Browser]
        for (
          const [path, browser] of [
            ["/home", member],
            ["/settings/profile", member],
            ["/admin/accounts", member],
            ["/@olga", visitor]
          ] as const
        ) {
          const { status, text } = yield* browser.get(path)
          assert.strictEqual(status, 200, path)
          yield* Effect.promise(async () => {
            const begin = text.indexOf("<main")
            assert.isAbove(begin, 0, path)
            for (const viewport of sizes) {
              const context = await chromium.newContext({ viewport, javaScriptEnabled: false })
              const page = await context.newPage()
              const placesIn = async (body: string): Promise<ReadonlyArray<string>> => {
                await page.unroute("**/*")
                await page.route(baseUrl + path, (route) => route.fulfill({ contentType: "text/html", body }))
                await page.goto(baseUrl + path)
                return page.evaluate<ReadonlyArray<string>>(positions)
              }
              const whole = await placesIn(text)
              for (let cut = 1; cut <= cutsOfPage; cut++) {
                const end = begin + Math.floor((text.length - begin) * cut / (cutsOfPage + 1))
                // The last one may have been cut.
                const part = (await placesIn(text.slice(0, end))).slice(0, -1)
                assert.deepStrictEqual(part, whole.slice(0, part.length), `${path}, ${viewport.width} px, ${end}`)
              }
              await context.close()
            }
          })
        }
      }))
  }
)
