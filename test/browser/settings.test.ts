import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pages } from "../http/staff/pages/pages.ts"
import { adminFixtures } from "../support/AdminFixtures.ts"
import { administratorBrowser } from "../support/AdministratorBrowser.ts"
import { authenticator, nextStep } from "../support/Authenticator.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { lookAtPages } from "./PageChecks.ts"
import { press, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "pages of settings, in a browser",
  (it) => {
    it.effect(
      "S-017 S-235: an administrator signs in with a second factor, sets the rules and creates an invite; a newcomer signs up with it",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const sql = yield* SqlClient.SqlClient
          const admin = yield* staffMember("regina", ["administrator"], 1_000)
          yield* sql`UPDATE roles SET require_2fa = true WHERE id = ${admin.roleId}`
          const { page, problems } = yield* visit()
          const app = yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/rules`)
            await signIn(page, admin)
            assert.include(page.url(), "/settings/two_factor_authentication")
            assert.deepStrictEqual(await axeFinds(page), [])
            await page.getByLabel("Your password").fill(admin.password)
            await press(page, "Set up")
            await picture(page, "two-factor-setup")
            assert.deepStrictEqual(await axeFinds(page), [])
            const app = authenticator(await page.locator("code.secret").textContent() ?? "")
            await page.locator("input[name=code]").fill(app.code())
            await press(page, "Turn on")
            await picture(page, "two-factor-codes")
            await page.getByRole("link", { name: "Next" }).click()
            assert.match(page.url(), /\/admin\/rules$/)
            await press(page, "Sign out")
            return app
          })
          yield* nextStep("regina")
          const { page: newcomer } = yield* visit("phone")
          yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/rules`)
            await signIn(page, admin)
            assert.include(page.url(), "/auth/two_factor")
            await picture(page, "two-factor-code")
            assert.deepStrictEqual(await axeFinds(page), [])
            await page.locator("input[name=otp_attempt]").fill(app.code())
            await press(page, "Sign in")
            assert.match(page.url(), /\/admin\/rules$/)
            await page.locator("textarea[name=text]").fill("Ducks before geese")
            await press(page, "Add rule")
            assert.include(await page.getByRole("status").textContent(), "The rule was added.")
            await page.goto(`${baseUrl}/admin/settings`)
            await page.getByRole("combobox", { name: "Sign-ups" }).selectOption("closed")
            await page.locator("form:has(select[name=registrations])").getByRole("button", { name: "Save" }).click()
            assert.include(await page.getByRole("status").textContent(), "The settings were saved.")
            await page.goto(`${baseUrl}/admin/invites`)
            await page.getByLabel("Max uses").selectOption("1")
            await press(page, "Create the invite")
            const address = /https?:\S+\/invite\/\w{8}/.exec(await page.getByRole("status").textContent() ?? "")?.[0] ??
              ""
            await newcomer.goto(baseUrl + new URL(address).pathname)
            await newcomer.getByLabel(/user ?name/i).fill("gosling")
            await newcomer.getByLabel(/e-?mail/i).fill("gosling@example.org")
            await newcomer.getByLabel(/password/i).first().fill("a long password")
            await newcomer.locator("input[type=checkbox]").first().check()
            await picture(newcomer, "phone-invite")
            await newcomer.locator("form button").first().click()
            await newcomer.waitForLoadState()
            assert.include(await newcomer.locator("main").textContent(), "We sent you an email")
            await page.goto(`${baseUrl}/admin/invites`)
            assert.include(await page.locator("main").textContent(), "1 of 1")
          })
          assert.deepStrictEqual(problems, [])
        })
    )

    it.effect(
      "Axe finds nothing and nothing is wider than the window, on desktop and phone, in light and dark",
      () =>
        Effect.gen(function*() {
          const owner = yield* administratorBrowser("livia")
          const addressOf = yield* adminFixtures(owner)
          const elsewhere = /^\/admin(?:$|\/(?:accounts|reports|appeals)|.*\/export\.[\w.]+$)/
          const mine = pages.map(({ path }) => path).filter((path) => !elsewhere.test(path))
          const all = [
            ...(yield* Effect.forEach(mine, addressOf)),
            "/admin/trends?kind=publishers",
            "/admin/custom_emojis?origin=remote",
            "/admin/measures?tag=82"
          ]
          assert.deepStrictEqual(all.filter((path) => path.endsWith("/nothing")), [], "each page has something to show")
          yield* lookAtPages(
            owner,
            all.map((path) => ({ name: `settings-${path.replace("/admin/", "").replaceAll(/\W+/g, "-")}`, path }))
          )
          console.info(`${all.length} pages of settings, looked at in four ways`)
        })
    )
  }
)
