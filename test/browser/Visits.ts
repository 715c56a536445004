import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { type Person, TestServer } from "../support/Server.ts"
import { Browser } from "./Browser.ts"

/* Visits of people to the server's own pages. */

/**
 * Presses a button that leads to another page, and waits until that is loaded. `waitForLoadState` may return before the
 * old page is left, and the next visit would then cancel the form.
 */
export const leaveBy = async (page: Page, button: Locator) => {
  await Promise.all([page.waitForEvent("load"), button.click()])
}

/** Fills in and submits the sign-in page. */
export const signIn = async (page: Page, { password, username }: Pick<Person, "password" | "username">) => {
  await page.getByLabel(/e-?mail/i).fill(`${username}@example.org`)
  await page.getByLabel(/password/i).fill(password)
  await leaveBy(page, page.getByRole("button", { name: "Sign in", exact: true }))
}

/** Presses the first button with that name, and waits for the next page. */
export const press = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).first().click()
  await page.waitForLoadState()
}

/** Opens a browser of a phone, with or without scripts, until the scope closes. */
export const phone = Effect.fnUntraced(function*(javaScriptEnabled: boolean) {
  const chromium = yield* Browser
  return yield* Effect.acquireRelease(
    Effect.promise(() => chromium.newContext({ javaScriptEnabled, viewport: { width: 390, height: 844 } })),
    (context) => Effect.promise(() => context.close())
  )
})

/**
 * Returns a function that goes on from a page to another and back, loads the page again, and checks each time that
 * `holds`, and that no form is sent.
 */
export const returning = (page: Page) =>
  TestServer.use(({ baseUrl }) =>
    Effect.sync(() => {
      const submissions: Array<string> = []
      page.on("request", (request) => {
        if (request.isNavigationRequest() && request.method() !== "GET") submissions.push(request.url())
      })
      return async (holds: () => Promise<void>) => {
        await holds()
        const sent = submissions.length
        await page.goto(`${baseUrl}/about`)
        const response = await page.goBack()
        assert.strictEqual(response?.status(), 200)
        await holds()
        await page.reload()
        await holds()
        assert.deepStrictEqual(submissions.slice(sent), [])
      }
    })
  )
