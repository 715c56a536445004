import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { ask, publishedId } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser } from "./Browser.ts"
import { at, streamOpens, until } from "./LivePages.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "counts and buttons of the web client, live",
  (it) => {
    it.effect("F310: menu, title and favicon have one number of unread notifications, in two tabs and after reading elsewhere", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [gus, hal] = [yield* createPerson("gus"), yield* createPerson("hal")]
        yield* publishedId(hal, "@gus before the page")
        const { page, problems } = yield* at(gus)
        const other = yield* Effect.promise(() => page.context().newPage())
        const shown = (tab: Page, count: number) =>
          until(
            tab,
            count === 0
              ? `document.querySelector(".unread-count") === null && !document.title.startsWith("(") &&
                [...document.querySelectorAll("link[rel=icon]")].every(({ href }) => !href.startsWith("data:"))`
              : `document.querySelector("nav.side .unread-count")?.textContent === "${count}" &&
                document.querySelector("nav.bar .unread-count")?.textContent === "${count}" &&
                document.title.startsWith("(${count}) ") &&
                [...document.querySelectorAll("link[rel=icon]")].every(({ href }) => href.startsWith("data:"))`
          )
        yield* Effect.promise(async () => {
          await other.goto(`${baseUrl}/bookmarks`)
          for (const tab of [page, other]) {
            await tab.evaluate(streamOpens)
            await shown(tab, 1)
          }
        })
        yield* publishedId(hal, "@gus and another")
        yield* Effect.promise(async () => {
          for (const tab of [page, other]) await shown(tab, 2)
          assert.deepStrictEqual(await axeFinds(page), [])
          // The second tab reads them.
          await other.goto(`${baseUrl}/notifications`)
          for (const tab of [page, other]) await shown(tab, 0)
        })
        yield* publishedId(hal, "@gus a third")
        yield* Effect.promise(async () => {
          for (const tab of [page, other]) await shown(tab, 1)
        })
        // An app reads the rest.
        const { body } = yield* ask(gus, "GET", "/api/v1/notifications")
        yield* ask(gus, "POST", "/api/v1/markers", { notifications: { last_read_id: body[0].id } })
        yield* Effect.promise(async () => {
          for (const tab of [page, other]) await shown(tab, 0)
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F314: new notifications announce themselves on their page, without moving it; mentions only on their tab", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [kim, lou] = [yield* createPerson("kim"), yield* createPerson("lou")]
        yield* publishedId(lou, "@kim before the page")
        const { page, problems } = yield* at(kim)
        const label = (tab: Page, text: string) =>
          until(tab, `document.querySelector("#live button")?.textContent === "${text}"`)
        const entries = (tab: Page) => tab.locator("main .feed > article").count()
        const mentions = yield* Effect.promise(() => page.context().newPage())
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/notifications`)
          await mentions.goto(`${baseUrl}/notifications?type=mentions`)
          for (const tab of [page, mentions]) await tab.evaluate(streamOpens)
        })
        yield* ask(lou, "POST", `/api/v1/accounts/${kim.accountId}/follow`, {})
        yield* Effect.promise(() => label(page, "1 new notification"))
        yield* publishedId(lou, "@kim while it is open")
        yield* Effect.promise(async () => {
          await label(page, "2 new notifications")
          await label(mentions, "1 new notification")
          assert.strictEqual(await entries(page), 1)
          assert.deepStrictEqual(await axeFinds(page), [])
          await page.locator("#live button").click()
          await page.locator("main .feed > article").nth(2).waitFor()
          assert.strictEqual(await page.locator("#live button").count(), 0)
          assert.strictEqual(await entries(page), 3)
        })
        // A notification that arrives between the page and its stream.
        const arrived = Promise.withResolvers<void>()
        yield* Effect.promise(async () => {
          await page.route("**/web/stream*", (route) => arrived.promise.then(() => route.continue()))
          await page.goto(`${baseUrl}/notifications`)
        })
        yield* publishedId(lou, "@kim before the stream")
        yield* Effect.promise(async () => {
          arrived.resolve()
          await label(page, "1 new notification")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F311: the follow button is true without a reload: withdrawn, accepted, removed by the other side", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ida, jon] = [yield* createPerson("ida"), yield* createPerson("jon")]
        yield* ask(jon, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
        const { page, problems } = yield* at(ida)
        const button = (name: string) => page.getByRole("button", { name: `${name} @jon`, exact: true }).waitFor()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/@jon`)
          await page.evaluate(streamOpens)
          await page.getByRole("button", { name: "Request to follow @jon" }).click()
          await button("Withdraw request")
          await page.getByRole("button", { name: "Withdraw request @jon" }).click()
          await button("Request to follow")
          await page.getByRole("button", { name: "Request to follow @jon" }).click()
          await button("Withdraw request")
        })
        yield* ask(jon, "POST", `/api/v1/follow_requests/${ida.accountId}/authorize`, {})
        yield* Effect.promise(async () => {
          await button("Unfollow")
          // The reader's focus stays on the button.
          assert.strictEqual(await page.evaluate("document.activeElement.value"), "unfollow")
        })
        yield* ask(jon, "POST", `/api/v1/accounts/${ida.accountId}/remove_from_followers`, {})
        yield* Effect.promise(() => button("Request to follow"))
        assert.deepStrictEqual(problems, [])
      }))
  }
)
