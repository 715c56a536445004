import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type Person, TestServer } from "../support/Server.ts"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { picture, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/** A page to check; `name` is the name of its screenshots. */
interface Looked {
  readonly name: string
  readonly path: string
  readonly status?: number
}

const sizes = { desk: { width: 1280, height: 900 }, phone: { width: 375, height: 800 } } as const

/** Innermost element that is wider than the window; null if everything fits. */
const widest = `document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll("body *")].findLast((one) => one.getBoundingClientRect().right > innerWidth)?.outerHTML.slice(0, 200)
  : null`

/** Returns the problems of the open page: Axe's findings, and elements wider than the window. */
const lookedAt = async (page: Page, { name, path }: Looked): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const size of ["desk", "phone"] as const) {
    await page.setViewportSize(sizes[size])
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      const by = await (scheme === "light" ? axeFinds : axeFindsInColors)(page)
      found.push(...by.map((one) => `${path}, ${size}, ${scheme}: ${one}`))
      if (size === "desk" ? scheme === "light" : scheme === "dark") await picture(page, `${name}-${size}`)
    }
    const wide = await page.evaluate(widest)
    if (wide !== null) found.push(`${path} is wider than a ${size}: ${String(wide)}`)
  }
  return found
}

/** Tabs that check pages concurrently: one waits for the server while the other one computes. */
const tabs = 2

/**
 * Checks pages of staff in desktop and phone size, in light and dark. Each page is loaded once and resized in place.
 * Axe must find nothing, nothing may be wider than the window, and the browser may log no errors.
 */
export const lookAtPages = Effect.fnUntraced(function*(person: Person, pages: ReadonlyArray<Looked>) {
  const { baseUrl } = yield* TestServer
  const { page: first, problems } = yield* visit()
  const found = yield* Effect.promise(async () => {
    await first.goto(`${baseUrl}/admin`)
    await signIn(first, person)
    const waiting = [...pages]
    const all: Array<string> = []
    const work = async (page: Page) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const response = await page.goto(baseUrl + next.path)
        const { status = 200 } = next
        if (response?.status() !== status) all.push(`${next.path} answers ${response?.status()}`)
        all.push(...await lookedAt(page, next))
      }
    }
    const others = await Promise.all(Array.from({ length: tabs - 1 }, () => first.context().newPage()))
    for (const page of others) {
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    }
    await Promise.all([first, ...others].map(work))
    await first.goto(`${baseUrl}/admin`)
    return all
  })
  assert.deepStrictEqual(found, [])
  // The browser logs each response that is a refusal.
  const refused = pages.filter(({ status = 200 }) => status >= 400).length
  assert.strictEqual(problems.length, refused, problems.join("\n"))
  return first
})
