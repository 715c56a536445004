import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/** Returns what overlaps the header picture of a profile, except the avatar. */
const onBanner = `(() => {
  const { bottom } = document.querySelector(".profile .banner").getBoundingClientRect()
  return [...document.querySelectorAll(".profile :is(a, button, summary, .mark)")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().top < bottom)
    .map((one) => one.textContent)
})()`

/** Returns true if the menu's links are in one row at the top. */
const menuOnTop = `(() => {
  const tops = [...document.querySelectorAll("nav.side a")].map((one) => one.getBoundingClientRect().top)
  return tops.length > 1 && new Set(tops).size === 1 && tops[0] < document.querySelector("main").getBoundingClientRect().top
})()`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true, timeout: "2 minutes" })(
  "pages with much to show, at small widths",
  (it) => {
    it.effect("F312: the buttons of a profile are below its header picture; the button of the viewer's own profile leads to the settings", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [lea, max] = [yield* createPerson("lea"), yield* createPerson("max")]
        yield* ask(max, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
        yield* ask(max, "POST", `/api/v1/accounts/${lea.accountId}/follow`, {})
        yield* ask(lea, "POST", `/api/v1/accounts/${max.accountId}/follow`, {})
        const { page, problems } = yield* visit("phone")
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/@max`)
          assert.isTrue(await page.evaluate(menuOnTop))
          await page.goto(`${baseUrl}/home`)
          await signIn(page, lea)
          for (const width of [320, 390, 768]) {
            await page.setViewportSize({ width, height: 844 })
            await page.goto(`${baseUrl}/@max`)
            await page.getByRole("button", { name: "Withdraw request @max" }).waitFor()
            assert.deepStrictEqual(await page.evaluate(onBanner), [], String(width))
            await picture(page, `profile-requested-${width}`)
          }
          await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Profile" }).click()
          await page.getByRole("link", { name: "Edit profile" }).click()
          await page.waitForURL(/\/settings\/profile$/)
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F313: lists of staff with names and dates fit a tablet", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const moderator = yield* staffMember("mona", ["manageReports", "manageUsers"])
        const [bad, good] = [yield* createPerson("nils"), yield* createPerson("olga")]
        yield* ask(bad, "PATCH", "/api/v1/accounts/update_credentials", {
          display_name: "Nils Ornithologist of the Northern Pier"
        })
        yield* ask(good, "POST", "/api/v1/reports", { account_id: String(bad.accountId), comment: "Too many birds" })
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/admin/reports`)
          await signIn(page, moderator)
          for (const width of [700, 768, 960]) {
            await page.setViewportSize({ width, height: 900 })
            for (const path of ["/admin/reports", "/admin/accounts"]) {
              await page.goto(`${baseUrl}${path}`)
              await page.getByText("Nils Ornithologist").first().waitFor()
              const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
              assert.strictEqual(excess, 0, `${path} ${width}`)
            }
          }
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
