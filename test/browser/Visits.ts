import type { Page } from "playwright-core"
import type { Person } from "../support/Server.ts"

/* Visits of people to the server's own pages. */

/** Fills in and submits the sign-in page. */
export const signIn = async (page: Page, { password, username }: Pick<Person, "password" | "username">) => {
  await page.getByLabel(/e-?mail/i).fill(`${username}@example.org`)
  await page.getByLabel(/password/i).fill(password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  await page.waitForLoadState()
}

/** Presses the first button with that name, and waits for the next page. */
export const press = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).first().click()
  await page.waitForLoadState()
}
