import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask, publishedId, settled } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { at, streamOpens } from "./LivePages.ts"
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

/** Returns the distance between avatar and name of each post, in pixels, and the edges of the name's lines. */
const nameGaps = `[...document.querySelectorAll("article.status header")].map((one) => {
  const range = document.createRange()
  range.selectNodeContents(one.querySelector("strong"))
  const [name, picture] = [range.getBoundingClientRect(), one.querySelector("img").getBoundingClientRect()]
  return Math.round(document.documentElement.dir === "rtl" ? picture.left - name.right : name.left - picture.right)
})`

/** Returns the first two letters of the page's heading, from left to right. */
const firstLetters = `(() => {
  const text = document.querySelector("h1").firstChild
  return [0, 1].map((at) => {
    const range = document.createRange()
    range.setStart(text, at)
    range.setEnd(text, at + 1)
    return [range.getBoundingClientRect().left, text.data[at]]
  }).sort(([one], [other]) => one - other).map(([, letter]) => letter)
})()`

/** Returns true if the button of new posts overlaps the name of the server or the bar. */
const covers = `(() => {
  const button = document.querySelector("#live button").getBoundingClientRect()
  return [...document.querySelectorAll("header.top a, nav.bar")].some((one) => {
    const { bottom, top } = one.getBoundingClientRect()
    return top < button.bottom && bottom > button.top
  })
})()`

/** Returns names and pages that take more than their room. */
const spread = `[
  ...[...document.querySelectorAll("main strong[dir=auto], .faces strong, .context")]
    .filter((one) => one.getBoundingClientRect().height > 64 * (one.closest(".profile") === null ? 1 : 2) || !["hidden", "clip"].includes(getComputedStyle(one).overflowY))
    .map((one) => one.className + one.parentElement.className + " " + one.getBoundingClientRect().height),
  ...(document.documentElement.scrollWidth > innerWidth ? ["wide"] : [])
]`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
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

    it.effect("F323: names of either direction begin beside the picture; announced posts cover no menu of a phone", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ina, tal] = [yield* createPerson("ina"), yield* createPerson("tal")]
        yield* ask(ina, "POST", `/api/v1/accounts/${tal.accountId}/follow`, {})
        yield* ask(tal, "PATCH", "/api/v1/accounts/update_credentials", { display_name: "أميرة الحسن" })
        yield* ask(ina, "PATCH", "/api/v1/accounts/update_credentials", { display_name: "Ina" })
        for (const by of [ina, tal]) yield* publishedId(by, "Hello")
        const { page, problems } = yield* at(ina)
        yield* Effect.promise(async () => {
          await page.setViewportSize({ width: 390, height: 844 })
          for (const language of ["en", "ar"]) {
            await page.goto(`${baseUrl}/home?lang=${language}`)
            assert.deepStrictEqual(await page.evaluate(nameGaps), [12, 12], language)
          }
          await page.goto(`${baseUrl}/tags/birds?lang=ar`)
          assert.deepStrictEqual(await page.evaluate(firstLetters), ["#", "b"])
          await page.goto(`${baseUrl}/home?lang=en`)
          await page.evaluate(streamOpens)
        })
        yield* publishedId(tal, "And more")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "1 new post" }).waitFor()
          assert.isFalse(await page.evaluate(covers))
          await picture(page, "live-phone")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F326: a name of 2,000 letters or of piled marks takes two lines of a list, and covers no other text", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const una = yield* createPerson("una")
        const names = ["W".repeat(2_000), `Vi${"\u0301\u0316".repeat(500)}c`, "🦜".repeat(500)]
        const own = yield* publishedId(una, "something")
        for (const [place, name] of names.entries()) {
          const vic = yield* createPerson(`vic${place}`)
          yield* sql`UPDATE accounts SET display_name = ${name} WHERE id = ${vic.accountId}`
          yield* ask(una, "POST", `/api/v1/accounts/${vic.accountId}/follow`, {})
          yield* ask(vic, "POST", `/api/v1/accounts/${una.accountId}/follow`, {})
          yield* publishedId(vic, "@una hello", { visibility: "direct" })
          yield* publishedId(vic, "to everybody")
          yield* ask(vic, "POST", `/api/v1/statuses/${own}/reblog`)
        }
        yield* settled
        const { page, problems } = yield* at(una)
        const found: Array<string> = []
        yield* Effect.promise(async () => {
          for (const width of [390, 1_280]) {
            await page.setViewportSize({ width, height: 844 })
            const paths = ["/home", "/notifications", "/conversations", "/search?q=vic", "/@vic0", "/@una/followers"]
            for (const path of paths) {
              await page.goto(baseUrl + path)
              found.push(
                ...(await page.evaluate<ReadonlyArray<string>>(spread)).map((one) => `${width} ${path}: ${one}`)
              )
              await picture(page, `name-${width}${path.replaceAll(/\W/g, "-")}`)
            }
          }
        })
        assert.deepStrictEqual(found, [])
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
