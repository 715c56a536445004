import type { Locator, Page } from "playwright-core"
import type { Person } from "../support/Server.ts"

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
