import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { ask, publishedId } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser } from "./Browser.ts"
import { at, streamOpens, until } from "./LivePages.ts"

const entries = "main .feed > article"

/** Waits until a page shows as many notifications, and its menu as many unread ones. */
const shows = (tab: Page, count: number, unread: number) =>
  until(
    tab,
    `document.querySelectorAll("${entries}").length === ${count} &&
      (document.querySelector("nav.side .unread-count")?.textContent ?? "0") === "${unread}"`
  )

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "notifications that are deleted elsewhere",
  (it) => {
    it.effect("F322: open tabs drop dismissed and cleared notifications, and those of deleted posts", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ida, jon] = [yield* createPerson("ida"), yield* createPerson("jon")]
        yield* ask(ida, "POST", `/api/v1/accounts/${jon.accountId}/follow`, {})
        const first = yield* publishedId(jon, "@ida one")
        for (const text of ["two", "three"]) yield* publishedId(jon, `@ida ${text}`)
        yield* ask(jon, "POST", `/api/v1/accounts/${ida.accountId}/follow`, {})
        const { page, problems } = yield* at(ida)
        const other = yield* Effect.promise(() => page.context().newPage())
        const home = yield* Effect.promise(() => page.context().newPage())
        yield* Effect.promise(async () => {
          for (const tab of [page, other]) {
            await tab.goto(`${baseUrl}/notifications`)
            await tab.evaluate(streamOpens)
          }
          await home.goto(`${baseUrl}/home`)
          await home.evaluate(streamOpens)
          await shows(page, 4, 0)
          // One is dismissed in a tab.
          await other.locator(entries).first().getByRole("button", { name: "Dismiss" }).click()
          await shows(other, 3, 0)
          await shows(page, 3, 0)
        })
        // A followed author deletes a post, with its notification.
        yield* ask(jon, "DELETE", `/api/v1/statuses/${first}`)
        yield* Effect.promise(() => shows(page, 2, 0))
        // An app dismisses one.
        const { body } = yield* ask(ida, "GET", "/api/v1/notifications")
        yield* ask(ida, "POST", `/api/v1/notifications/${body[0].id}/dismiss`)
        yield* Effect.promise(() => shows(page, 1, 0))
        // One arrives that no tab shows yet; then a tab clears all.
        yield* publishedId(jon, "@ida four")
        yield* Effect.promise(async () => {
          await until(page, `document.querySelector("#live button")?.textContent === "1 new notification"`)
          await until(home, `document.querySelector("nav.side .unread-count")?.textContent === "1"`)
          await other.goto(`${baseUrl}/notifications`)
          await other.getByText("Clear all", { exact: true }).click()
          await other.getByRole("button", { name: "Clear all notifications" }).click()
          await page.getByText("No notifications.").waitFor()
          await shows(page, 0, 0)
          assert.strictEqual(await page.locator("#live button").count(), 0)
          await until(home, `document.querySelector("nav.side .unread-count") === null`)
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
