import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId } from "../support/Api.ts"
import { eventually } from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture } from "./Browser.ts"
import { at, streamOpens, until } from "./LivePages.ts"
import { workerReady } from "./ServiceWorkers.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the web client, live",
  (it) => {
    it.effect("two browsers get each other's changes: new posts wait for a press, edits and deletions appear in place", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
        yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`, {})
        const first = yield* publishedId(bob, "the first post")
        const own = yield* publishedId(ada, "a post of mine")
        for (let count = 0; count < 12; count++) yield* publishedId(bob, `post ${count}`)
        const { page, problems } = yield* at(ada)
        const { page: other } = yield* at(bob)
        yield* Effect.promise(async () => {
          await page.evaluate(streamOpens)
          await page.evaluate(`scrollTo(0, 300)`)
          const before = await page.evaluate(`[scrollY, document.querySelectorAll("article").length]`)
          // Bob favourites Ada's post in his browser, and writes two posts.
          await other.goto(new URL(`/@ada/${own}`, other.url()).href)
          await other.locator(`#status-${own} button[value="favourite"]`).click()
          await other.locator(`#status-${own} button[value="unfavourite"]`).waitFor()
          await until(page, `document.title.startsWith("(1) ")`)
          await until(page, `document.querySelector("#status-${own} .count")?.textContent === "1"`)
          return before
        }).pipe(
          Effect.flatMap((before) =>
            Effect.gen(function*() {
              const [one, two] = [yield* publishedId(bob, "breaking news"), yield* publishedId(bob, "more news")]
              yield* Effect.promise(async () => {
                await page.getByRole("button", { name: "2 new posts" }).waitFor()
                assert.deepStrictEqual(
                  await page.evaluate(`[scrollY, document.querySelectorAll("article").length]`),
                  before
                )
                assert.deepStrictEqual(await axeFinds(page), [])
                await picture(page, "live-new-posts")
                await page.getByRole("button", { name: "2 new posts" }).click()
                await page.locator(`#status-${two}`).waitFor()
                assert.strictEqual(await page.evaluate("document.activeElement.id"), `status-${two}`)
                assert.strictEqual(await page.locator("#live button").count(), 0)
              })
              yield* ask(bob, "PUT", `/api/v1/statuses/${one}`, { status: "corrected news" })
              yield* Effect.promise(() => page.locator(`#status-${one}`, { hasText: "corrected news" }).waitFor())
              yield* ask(bob, "DELETE", `/api/v1/statuses/${two}`)
              yield* Effect.promise(async () => {
                await page.locator(`#status-${two}`).waitFor({ state: "detached" })
                // The focus has moved to the next post.
                assert.strictEqual(await page.evaluate("document.activeElement.id"), `status-${one}`)
              })
            })
          )
        )
        assert.isString(first)
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F376: a page whose stream failed shows what happened in between", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [eve, fay] = [yield* createPerson("eve"), yield* createPerson("fay")]
        yield* ask(eve, "POST", `/api/v1/accounts/${fay.accountId}/follow`, {})
        const edited = yield* publishedId(fay, "a post that is edited")
        const dropped = yield* publishedId(fay, "a post that is deleted")
        for (let count = 0; count < 12; count++) yield* publishedId(fay, `post ${count}`)
        const { page } = yield* at(eve)
        yield* Effect.promise(async () => {
          let refused = 0
          let isRefused = true
          const isRefusedTwice = new Promise<void>((resolve) => {
            void page.route(/\/web\/stream/, (route) => {
              if (!isRefused) return route.continue()
              if (++refused === 2) resolve()
              return route.abort("connectionreset")
            })
          })
          await page.goto(`${baseUrl}/home`)
          await isRefusedTwice
          return () => {
            isRefused = false
          }
        }).pipe(Effect.flatMap((open) =>
          Effect.gen(function*() {
            yield* ask(fay, "PUT", `/api/v1/statuses/${edited}`, { status: "an edited post" })
            yield* ask(fay, "DELETE", `/api/v1/statuses/${dropped}`)
            yield* publishedId(fay, "news")
            open()
          })
        ))
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "1 new post", exact: true }).waitFor()
          await page.locator(`#status-${edited}`, { hasText: "an edited post" }).waitFor()
          await page.locator(`#status-${dropped}`).waitFor({ state: "detached" })
        })
      }))

    it.effect("500 posts upwards: newer ones are inserted above, and nothing moves", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const cleo = yield* createPerson("cleo")
        const ids: Array<string> = []
        for (let count = 0; count < 520; count += 10) {
          ids.push(
            ...(yield* Effect.forEach(
              Array.from({ length: 10 }, (_, at) => count + at),
              (number) => publishedId(cleo, `Post ${number}. ${"word ".repeat(number % 40)}`),
              { concurrency: 2 }
            ))
          )
        }
        const oldest = ids.map(BigInt).reduce((one, other) => one < other ? one : other)
        const { page, problems } = yield* at(cleo)
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/home?min_id=${oldest - 1n}`)
          // The jump to the end shows posts whose heights were estimates until then.
          await page.evaluate(`(async () => {
            scrollTo(0, document.documentElement.scrollHeight)
            for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => requestAnimationFrame(resolve))
            window.shifts = []
            new PerformanceObserver((list) => {
              for (const { sources, value } of list.getEntries()) {
                shifts.push([value, ...sources.map(({ currentRect, node, previousRect }) => [
                  (node?.outerHTML ?? node?.textContent ?? "").slice(0, 60), previousRect.y, currentRect.y
                ])])
              }
            }).observe({ type: "layout-shift" })
          })()`)
          // Scrolls up; after each turn of the wheel the top post has moved by exactly that much.
          const moves = await page.evaluate(`(async () => {
            const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
            const top = () => [...document.querySelectorAll(".feed > article")].find((one) =>
              one.getBoundingClientRect().bottom > 100)
            const wrong = []
            for (let turn = 0; turn < 2000 && document.querySelectorAll(".feed > article").length < 510; turn++) {
              await frame()
              const anchor = top()
              const before = anchor.getBoundingClientRect().top
              const count = document.querySelectorAll(".feed > article").length
              for (let wait = 0; scrollY < 900 && wait < 500; wait++) {
                if (document.querySelectorAll(".feed > article").length > count) break
                await new Promise((resolve) => setTimeout(resolve, 10))
              }
              const by = Math.min(480, scrollY)
              const start = anchor.getBoundingClientRect().top
              if (Math.abs(start - before) > 1) wrong.push(["waiting", start - before])
              scrollBy(0, -by)
              const moved = anchor.getBoundingClientRect().top - start
              if (Math.abs(moved - by) > 1) wrong.push([by, moved])
            }
            return [document.querySelectorAll(".feed > article").length, wrong]
          })()`)
          const [count, wrong] = moves as [number, ReadonlyArray<unknown>]
          assert.isAtLeast(count, 500)
          assert.deepStrictEqual(wrong, [])
          assert.deepStrictEqual(await page.evaluate("window.shifts.slice(0, 5)"), [])
          const places = await page.evaluate(`[...document.querySelectorAll(".feed > article")].map(({ id }) => id)`)
          assert.strictEqual(new Set(places as Array<string>).size, count)
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("keys move, act and open other pages, except in fields; menus and dialogs keep the place", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const dora = yield* createPerson("dora")
        for (let count = 0; count < 6; count++) {
          yield* publishedId(dora, `post ${count}`, { spoiler_text: `title ${count}` })
        }
        const { page, problems } = yield* at(dora)
        yield* Effect.promise(async () => {
          const focused = () => page.evaluate("document.activeElement.closest('article')?.id")
          const idAt = (place: number) => page.locator("article").nth(place).getAttribute("id")
          await page.keyboard.press("j")
          assert.strictEqual(await focused(), await idAt(0))
          await page.keyboard.press("j")
          await page.keyboard.press("j")
          await page.keyboard.press("k")
          assert.strictEqual(await focused(), await idAt(1))
          await page.keyboard.press("x")
          await page.locator("article").nth(1).locator("details.warning[open]").waitFor()
          await page.keyboard.press("f")
          await page.locator("article").nth(1).locator(`button[value="unfavourite"]`).waitFor()
          assert.strictEqual(await focused(), await idAt(1))
          await page.locator("article").nth(1).locator("details.warning[open]").waitFor()
          await page.keyboard.press("?")
          await page.locator("#page-dialog[open] table.keys").first().waitFor()
          assert.deepStrictEqual(await axeFinds(page), [])
          await picture(page, "keys-dialog")
          await page.keyboard.press("Escape")
          // The menu, a reaction, and a deletion after a confirmation.
          const article = page.locator("article").nth(1)
          await article.locator("details.more > summary").click()
          await picture(page, "more-menu")
          assert.deepStrictEqual(await axeFinds(page), [])
          await article.locator(`button[value="react:🎉"]`).click()
          await page.locator("article").nth(1).locator(`button[value="unreact:🎉"]`).waitFor()
          const gone = await idAt(1)
          const next = await idAt(2)
          await page.locator("article").nth(1).locator("details.more > summary").click()
          await page.locator("article").nth(1).locator(`a[href$="/delete"]`).click()
          await page.locator("#page-dialog[open] button[value=delete]").waitFor()
          await picture(page, "delete-dialog")
          assert.deepStrictEqual(await axeFinds(page), [])
          await page.locator("#page-dialog[open] button[value=delete]").click()
          await page.locator(`#${gone}`).waitFor({ state: "detached" })
          assert.strictEqual(await focused(), next)
          assert.strictEqual(page.url(), `${baseUrl}/home`)
          await page.keyboard.press("g")
          await page.keyboard.press("l")
          await page.waitForURL(`${baseUrl}/public/local`)
          await page.goto(`${baseUrl}/settings/push`)
          await page.locator("select[name=policy]").focus()
          await page.keyboard.press("g")
          await page.keyboard.press("h")
          assert.strictEqual(page.url(), `${baseUrl}/settings/push`)
          assert.deepStrictEqual(await axeFinds(page), [])
          await picture(page, "push-page")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("the last Home can be read offline, until the user signs out", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const erik = yield* createPerson("erik")
        yield* publishedId(erik, "kept for later")
        const { page } = yield* at(erik)
        yield* Effect.promise(async () => {
          await workerReady(page)
          // The service worker serves the next page, even if it has not claimed the page that registered it.
          await page.goto(`${baseUrl}/home`)
          await until(page, "navigator.serviceWorker.controller !== null")
          await page.context().setOffline(true)
        })
        // Chromium takes the network from the service worker after it took that of the page.
        yield* eventually(
          Effect.promise(async () => {
            await page.goto(`${baseUrl}/notifications`)
            return page.getByText("You are offline.").isVisible()
          }),
          Boolean
        )
        yield* Effect.promise(async () => {
          assert.isTrue(await page.getByText("kept for later").isVisible())
          assert.isFalse(await page.locator("form.acts").first().isVisible())
          await picture(page, "offline")
          await page.context().setOffline(false)
          await page.goto(`${baseUrl}/home`)
          await page.locator("nav.side").getByRole("button", { name: "Sign out" }).click()
          await page.waitForLoadState()
          await until(page, "caches.has('home').then((has) => !has)")
          await page.context().setOffline(true)
        })
        yield* eventually(Effect.promise(() => page.goto(`${baseUrl}/home`).then(() => false, () => true)), Boolean)
      }))
  }
)
