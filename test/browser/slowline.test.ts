import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId } from "../support/Api.ts"
import { draftsOf, statusesOf, textOf } from "../support/Composer.ts"
import { TestServer } from "../support/Server.ts"
import { Browser } from "./Browser.ts"
import { at } from "./LivePages.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the web on a slow line",
  (it) => {
    it.effect("F325: a button that is pressed twice acts once, and again on the next page", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const nia = yield* createPerson("nia")
        const { page, problems } = yield* at(nia)
        yield* Effect.promise(async () => {
          const sent: Array<string> = []
          page.on("request", (request) => request.method() === "POST" && sent.push(new URL(request.url()).pathname))
          const cases = [
            ["/lists", "Create list", "[name=title]"],
            ["/collections", "Create collection", "[name=name]"],
            ["/settings/filters", "Create filter", "[name=title]"],
            ["/settings/posting", "Save changes", undefined]
          ] as const
          for (const [path, name, field] of cases) {
            await page.goto(baseUrl + path)
            if (field !== undefined) await page.locator(field).first().fill("Birds")
            const keywords = page.locator("[name=keywords]")
            if (await keywords.count() > 0) await keywords.fill("birds")
            const { promise: line, resolve: release } = Promise.withResolvers<void>()
            await page.route("**/*", async (route) => {
              if (route.request().method() === "POST") await line
              await route.continue()
            })
            sent.length = 0
            const button = page.getByRole("button", { name, exact: true })
            const started = page.waitForRequest((request) => request.method() === "POST")
            await button.scrollIntoViewIfNeeded()
            const { height = 0, width = 0, x = 0, y = 0 } = (await button.boundingBox()) ?? {}
            const press = () => page.mouse.click(x + width / 2, y + height / 2)
            await press()
            await started
            await press()
            const shown = page.waitForNavigation()
            release()
            await shown
            assert.lengthOf(sent, 1, path)
            await page.unroute("**/*")
          }
          // The next page takes the same act again.
          await page.getByRole("button", { name: "Save changes", exact: true }).click()
          await page.waitForLoadState()
          assert.lengthOf(sent, 2)
        })
        const { body } = yield* ask(nia, "GET", "/api/v1/lists")
        assert.lengthOf(body, 1)
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F326: a reply to a post that is deleted meanwhile is kept as a draft, and can be published by itself", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [oda, pia] = [yield* createPerson("oda"), yield* createPerson("pia")]
        const id = yield* publishedId(pia, "soon gone")
        const { page } = yield* at(oda)
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish?reply_to=${id}`)
          await page.locator("textarea[name=text]").fill("@pia a long thought")
        })
        yield* ask(pia, "DELETE", `/api/v1/statuses/${id}`)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Post", exact: true }).click()
          await page.getByRole("alert").first().waitFor()
          assert.strictEqual(await page.locator("textarea[name=text]").first().inputValue(), "@pia a long thought")
          // The text outlives the tab, and can be published by itself.
          await page.goto(`${baseUrl}/drafts`)
          await page.getByText("a long thought").first().waitFor()
          await page.getByRole("link", { name: "Edit" }).click()
          await page.getByText("The other post is gone. This one will be published by itself.").waitFor()
          await page.getByRole("button", { name: "Post", exact: true }).click()
          await page.waitForURL(/\/home/)
        })
        const posts = yield* statusesOf(oda)
        assert.deepStrictEqual(posts.map(textOf), ["@pia a long thought"])
        assert.deepStrictEqual(yield* draftsOf(oda), [])
      }))
  }
)
