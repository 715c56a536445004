import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { chromium, type Page } from "playwright-core"
import { chromium as executable } from "../support/RedisServer.ts"

/** Where pictures of pages are left for whoever wants to see what a test saw. */
export const pictures = `${tmpdir()}/murmuration-pages`

/** Chromium, closed with the scope. */
export const browser = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath: executable(), args: ["--no-sandbox", "--disable-gpu"] })),
  (running) => Effect.promise(() => running.close())
)

/** A fresh profile with one page, of a telephone or a desk. */
export const visit = Effect.fnUntraced(function*(size: "phone" | "desk" = "desk") {
  const viewport = size === "phone" ? { width: 390, height: 844 } : { width: 1100, height: 800 }
  const context = yield* Effect.acquireRelease(
    Effect.flatMap(browser, (running) => Effect.promise(() => running.newContext({ viewport }))),
    (context) => Effect.promise(() => context.close())
  )
  const page = yield* Effect.promise(() => context.newPage())
  const problems: Array<string> = []
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
  page.on("pageerror", (error) => problems.push(String(error)))
  return { page, problems }
})

/** Takes a picture of the whole page. */
export const picture = async (page: Page, name: string) => {
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true })
}
