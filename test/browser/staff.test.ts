import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { ask, newPerson } from "../support/Api.ts"
import { authenticator, nextStep } from "../support/Authenticator.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { lookAtPages } from "./PageChecks.ts"
import { press, signIn } from "./Visits.ts"

const main = async (page: Page) => await page.locator("main").textContent() ?? ""

/** Reports a user for two posts. */
const reported = Effect.fnUntraced(function*(bad: Person, good: Person) {
  const publishAsUser = Effect.fnUntraced(function*(json: object) {
    return (yield* ask(bad, "POST", "/api/v1/statuses", json)).body.id as string
  })
  const posts = [
    yield* publishAsUser({ status: "Buy my <wonderful> pills!\n\nhttps://pills.example/now" }),
    yield* publishAsUser({ status: "They are very cheap", spoiler_text: "Pills", sensitive: true })
  ]
  yield* ask(good, "POST", "/api/v1/reports", {
    account_id: String(bad.accountId),
    status_ids: posts,
    comment: "Spam, all day long",
    category: "spam"
  })
})

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "pages of staff, in a browser",
  (it) => {
    it.effect(
      "S-021 S-234: a moderator with a second factor reads a report and limits the account; the appeal arrives, is granted, and all is undone",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const moderator = yield* staffMember("moira", ["manageReports", "manageUsers", "manageAppeals"])
          const [bad, good] = [yield* newPerson("pillbox"), yield* newPerson("grace")]
          yield* reported(bad, good)
          const { page, problems } = yield* visit()
          const { page: theirs } = yield* visit("phone")
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE roles SET require_2fa = true WHERE id = ${moderator.roleId}`
          // The role works only with a second factor, which the moderator sets up.
          const app = yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/reports`)
            await signIn(page, moderator)
            assert.match(page.url(), /\/settings\/two_factor_authentication/)
            await page.goto(`${baseUrl}/admin/reports`)
            assert.match(page.url(), /\/settings\/two_factor_authentication/)
            assert.include(await main(page), "You cannot use staff tools until it is on.")
            await page.locator("main input[name=password]").fill(moderator.password)
            await page.locator("main form:has(input[name=password]) button").first().click()
            const shown = authenticator(await page.locator("code.secret").first().textContent() ?? "")
            await page.locator("main input[name=code]").fill(shown.code())
            await page.locator("main form:has(input[name=code]) button").first().click()
            await page.waitForLoadState()
            await page.goto(`${baseUrl}/admin/reports`)
            await press(page, "Sign out")
            return shown
          })
          yield* nextStep(moderator.username)
          yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/reports`)
            await signIn(page, moderator)
            await page.locator("main input[name=otp_attempt]").fill(app.code())
            await page.locator("main form:has(input[name=otp_attempt]) button").first().click()
            await page.waitForLoadState()
            assert.match(page.url(), /\/admin\/reports$/)
            await page.getByRole("link", { name: "Spam" }).click()
            assert.include(await main(page), "Buy my <wonderful> pills!")
            await press(page, "Assign to me")
            assert.include(await page.getByRole("status").textContent(), "assigned to you")
            await page.getByLabel("Note for other moderators").fill("Seen before")
            await press(page, "Add note")
            assert.include(await main(page), "Seen before")
            await page.getByRole("radio", { name: /^Limit/ }).check()
            await page.getByLabel("Message to the person").fill("No advertising here")
            await page.locator("form:has(input[type=radio]) button").click()
            assert.include(await main(page), "shown only to followers")
            await picture(page, "staff-confirm")
            await press(page, "Limit")
            assert.include(await page.getByRole("status").textContent(), "@pillbox was limited")
            assert.isTrue(await page.getByRole("button", { name: "Undo" }).isVisible())
            assert.include(await main(page), "Resolved")
            await picture(page, "staff-undo")
            // The person reads it on a phone, and appeals.
            await theirs.goto(`${baseUrl}/disputes/strikes`)
            await signIn(theirs, bad)
            await theirs.locator("main li a").first().click()
            assert.include(await main(theirs), "No advertising here")
            assert.deepStrictEqual(await axeFinds(theirs), [])
            await picture(theirs, "phone-strike")
            await theirs.getByLabel("Your appeal").fill("I only sell my own soap")
            await press(theirs, "Submit appeal")
            assert.include(await main(theirs), "is pending")
            await page.goto(`${baseUrl}/admin/appeals`)
            await page.getByRole("link", { name: "I only sell my own soap" }).click()
            await press(page, "Approve appeal")
            assert.include(await main(page), "no longer limited")
            await press(page, "Approve the appeal")
            assert.include(await page.getByRole("status").textContent(), "The appeal was approved")
            await theirs.reload()
            assert.include(await main(theirs), "was approved")
          })
          assert.deepStrictEqual(problems, [])
          const { body } = yield* ask(moderator, "GET", `/api/v1/admin/accounts/${bad.accountId}`)
          assert.isFalse(body.silenced)
        })
    )

    it.effect(
      "Axe finds nothing and nothing is wider than the window, on desktop and phone, in light and dark",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const sql = yield* SqlClient.SqlClient
          const owner = yield* staffMember("augusta", ["administrator"], 1_000)
          const [bad, good] = [yield* newPerson("mallory"), yield* newPerson("peggy")]
          yield* reported(bad, good)
          const [waiting] = [yield* newPerson("newcomer")]
          yield* sql`UPDATE users SET approved = false, reason = 'I paint ducks and would like to show them'
          WHERE account_id = ${waiting.accountId}`
          yield* ask(owner, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, {
            type: "sensitive",
            text: "Tone it down"
          })
          yield* ask(owner, "POST", `/api/v1/admin/accounts/${bad.accountId}/notes`, {
            content: "Came back under this name"
          })
          const [strike] = yield* sql<{ id: bigint }>`SELECT id FROM account_warnings ORDER BY id DESC LIMIT 1`
          yield* ask(bad, "POST", `/api/v1/strikes/${strike!.id}/appeal`, { text: "These were paintings" })
          const [report] = yield* sql<{ id: bigint }>`SELECT id FROM reports ORDER BY id DESC LIMIT 1`
          const [appeal] = yield* sql<{ id: bigint }>`SELECT id FROM appeals ORDER BY id DESC LIMIT 1`
          yield* ask(owner, "POST", `/api/v1/admin/reports/${report!.id}/reopen`)
          const pages = [
            ["dashboard", "/admin"],
            ["accounts", "/admin/accounts?origin=local"],
            ["account", `/admin/accounts/${bad.accountId}`],
            ["waiting", `/admin/accounts/${waiting.accountId}`],
            ["nobody", "/admin/accounts?username=nobodyatall"],
            ["reports", "/admin/reports?state=all"],
            ["report", `/admin/reports/${report!.id}`],
            ["appeals", "/admin/appeals"],
            ["appeal", `/admin/appeals/${appeal!.id}`]
          ] as const
          const page = yield* lookAtPages(owner, [
            ...pages.map(([name, path]) => ({ name: `staff-${name}`, path })),
            { name: "staff-missing", path: "/admin/reports/1", status: 404 }
          ])
          yield* Effect.promise(async () => {
            // Checks that Axe finds a known problem here, with both methods.
            await page.evaluate(
              "document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"/favicon.ico\">')"
            )
            assert.isNotEmpty(await axeFinds(page))
            assert.isEmpty(await axeFindsInColors(page))
            await page.evaluate(
              "document.querySelector('main').insertAdjacentHTML('beforeend', '<p class=\"row\"><font color=\"#555555\">Pale</font></p>')"
            )
            assert.isNotEmpty(await axeFindsInColors(page))
            // With the keyboard alone: the first tab stop skips the navigation.
            await page.goto(`${baseUrl}/admin/reports`)
            await page.keyboard.press("Tab")
            assert.strictEqual(await page.evaluate("document.activeElement.getAttribute('href')"), "#content")
          })
        })
    )
  }
)
