import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { TestServer } from "../support/Server.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { everything, expired, pageRoutes } from "./Everything.ts"
import { pictureName } from "./EveryWidth.ts"
import { signIn } from "./Visits.ts"

/** Widths in pixels and sizes of text: a small phone, and a phone with doubled text (WCAG 2.2, 1.4.4 and 1.4.10). */
const sizes = [[320, "100%"], [390, "200%"]] as const

/** Innermost element that is wider than the window; null if everything fits. */
const widest = `document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll("main *, header *, body > *")].findLast((one) => {
      if (!one.checkVisibility()) return false
      const { left, right } = one.getBoundingClientRect()
      return right > innerWidth || left < 0
    })?.outerHTML.slice(0, 160)
  : null`

const focused = `document.activeElement.matches("#content") ? "content"
  : document.activeElement.closest("#content") === null ? document.activeElement.outerHTML.slice(0, 80) : "in content"`

/** First element that the Tab key reaches. */
const firstStop =
  `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
  .find((one) => one.checkVisibility())?.getAttribute("href")`

/** Follows the skip link by keyboard. A page with `autofocus` begins in its content. */
const skip = async (page: Page): Promise<ReadonlyArray<string>> => {
  // A page for frames of other sites is one post, without a menu.
  if (page.url().endsWith("/embed")) return []
  const found: Array<string> = []
  if (await page.evaluate(firstStop) !== "#content") found.push("begins without a skip link")
  if (await page.evaluate("document.querySelector('[autofocus]') === null")) {
    await page.keyboard.press("Tab")
    if (await page.evaluate("document.activeElement.getAttribute('href')") !== "#content") found.push("first Tab")
    await page.keyboard.press("Enter")
  }
  const at = await page.evaluate(focused)
  if (at !== "content" && at !== "in content") found.push(`skips to ${String(at)}`)
  return found
}

const findings = async (page: Page): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [width, size] of sizes) {
    await page.setViewportSize({ width, height: 844 })
    await page.evaluate(`document.documentElement.style.fontSize = "${size}"`)
    const wide = await page.evaluate<string | null>(widest)
    if (wide !== null) found.push(`is wider than ${width} at ${size}: ${wide}`)
  }
  await page.evaluate("document.documentElement.style.fontSize = ''")
  return [...found, ...await skip(page)]
}

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "every route with a page, in a browser",
  (it) => {
    it.effect(
      "F342, F343: fits 320 pixels and doubled text at 390, and its first Tab skips to the content",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const { owner, pathOf } = yield* everything
          const routes = yield* pageRoutes
          assert.isAbove(routes.length, 150)
          const paths = yield* Effect.forEach(routes, (route) => Effect.map(pathOf(route), (path) => ({ path, route })))
          const [stranger, member] = [yield* visit("phone"), yield* visit("phone")]
          const look = async (page: Page, who: string) => {
            const found: Array<string> = []
            for (const { path, route } of paths) {
              const response = await page.goto(baseUrl + path)
              // The target of a redirect is another route.
              if (response === null || response.request().redirectedFrom() !== null) continue
              const status = response.status()
              if (status >= 500 || status === 404 && !expired.has(route)) found.push(`${who} ${path} answers ${status}`)
              if (!(response.headers()["content-type"] ?? "").startsWith("text/html")) {
                found.push(`${who} ${path} is no page`)
                continue
              }
              found.push(...(await findings(page)).map((one) => `${who} ${path} ${one}`))
              await picture(page, `narrow-${who}${pictureName(path)}`)
            }
            return found
          }
          const found = yield* Effect.promise(async () => {
            await member.page.goto(`${baseUrl}/home`)
            await signIn(member.page, owner)
            return (await Promise.all([look(stranger.page, "visitor"), look(member.page, "member")])).flat()
          })
          assert.deepStrictEqual(found, [])
        })
    )
  }
)
