import { Context, Effect, Layer } from "effect"
import { mkdirSync } from "node:fs"
import { type Browser as Chromium, chromium, type Page } from "playwright-core"
import * as Programs from "../support/programs/Programs.ts"

/** Folder for the tests' screenshots; empty for none. */
const pictures = process.env["PICTURES"] ?? ""

/** Milliseconds after which an act in a page has failed; on a busy machine one may need many seconds. */
const actMillisMax = 180_000

const launch = async () => {
  const browser = await chromium.launch({
    executablePath: Programs.path("chromium"),
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: actMillisMax
  })
  const newContext = browser.newContext.bind(browser)
  return Object.assign(browser, {
    newContext: async (...options: Parameters<typeof newContext>) => {
      const context = await newContext(...options)
      context.setDefaultTimeout(actMillisMax)
      return context
    }
  })
}

/** Headless Chromium. */
export class Browser extends Context.Service<Browser, Chromium>()("murmuration/test/Browser") {
  static readonly layer = Layer.effect(
    Browser,
    Effect.acquireRelease(
      Effect.promise(() => launch()),
      (running) => Effect.promise(() => running.close())
    )
  )
}

/** Opens a fresh profile with one page, in the size of a phone or a desktop. */
export const visit = Effect.fnUntraced(function*(size: "phone" | "desk" = "desk") {
  const viewport = size === "phone" ? { width: 390, height: 844 } : { width: 1100, height: 800 }
  const context = yield* Effect.acquireRelease(
    Effect.flatMap(Browser, (running) => Effect.promise(() => running.newContext({ viewport }))),
    (context) => Effect.promise(() => context.close())
  )
  const page = yield* Effect.promise(() => context.newPage())
  const problems: Array<string> = []
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
  page.on("pageerror", (error) => problems.push(String(error)))
  return { page, problems }
})

/** Maximum height of a screenshot, in pixels. */
const pictureRowsMax = 2_000

const rowsOf = ({ scrollHeight }: { readonly scrollHeight: number }) => scrollHeight

/** Takes a screenshot if they are wanted: it costs more CPU than the checks. */
export const picture = async (page: Page, name: string) => {
  if (pictures === "") return
  mkdirSync(pictures, { recursive: true })
  const [width, height] = [page.viewportSize()?.width ?? 0, await page.locator("html").evaluate(rowsOf)]
  await page.screenshot({
    path: `${pictures}/${name}.png`,
    fullPage: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, pictureRowsMax) }
  })
}
