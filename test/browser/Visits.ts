import type { Page } from "playwright-core"
import type { Person } from "../support/Server.ts"

/* Visits of people to the server's own pages. */

/** Fills the page on which one signs in, and sends it. */
export const signIn = async (page: Page, { password, username }: Pick<Person, "password" | "username">) => {
  await page.getByLabel(/e-?mail/i).fill(`${username}@example.org`)
  await page.getByLabel(/password/i).fill(password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  await page.waitForLoadState()
}

/** Presses the first button of that name, and waits for what it leads to. */
export const press = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).first().click()
  await page.waitForLoadState()
}
