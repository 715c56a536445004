import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId, settled } from "../support/Api.ts"
import { picture as drawn, uploaded } from "../support/MediaFiles.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { translationDouble } from "../support/TranslationDouble.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture } from "./Browser.ts"
import { at } from "./LivePages.ts"

/** Uploads a picture with a description, and returns its id. */
const pictured = (by: Person, description: string) =>
  Effect.flatMap(
    Effect.promise(() => drawn().png().toBuffer()),
    (bytes) => Effect.map(uploaded(by, bytes, { description }), ({ id }) => String(id))
  )

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the web client by keyboard",
  (it) => {
    it.effect("F325: each key does what the page of keys says, and an act that ends late takes the focus from no other post", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [kai, lia] = [yield* createPerson("kai"), yield* createPerson("lia")]
        yield* ask(kai, "POST", `/api/v1/accounts/${lia.accountId}/follow`, {})
        const file = yield* pictured(lia, "A stripe")
        const id = yield* publishedId(lia, "the oldest post", { media_ids: [file], sensitive: true })
        for (let count = 0; count < 45; count++) yield* publishedId(lia, `post ${count}`)
        const newest = yield* publishedId(lia, "the newest post", { spoiler_text: "A warning" })
        yield* settled
        const { page, problems } = yield* at(kai)
        yield* Effect.promise(async () => {
          const path = () => new URL(page.url()).pathname
          const open = (where: string) => page.goto(baseUrl + where)
          const keys = async (...all: ReadonlyArray<string>) => {
            for (const one of all) await page.keyboard.press(one)
          }
          const focused = () => page.evaluate("document.activeElement.closest('article')?.id")
          const leads = async (where: string | RegExp, ...all: ReadonlyArray<string>) => {
            await open("/home")
            await keys(...all)
            await page.waitForURL(typeof where === "string" ? baseUrl + where : where)
          }
          // On the newest post.
          await keys("j", "b")
          await page.locator(`#status-${newest} button[value="unreblog"]`).waitFor()
          await keys("f", "Alt+PageDown")
          // The reader moves on before the server has responded.
          const second = await focused()
          assert.notStrictEqual(second, `status-${newest}`)
          await page.locator(`#status-${newest} button[value="unfavourite"]`).waitFor()
          assert.strictEqual(await focused(), second)
          await keys("Alt+PageUp")
          assert.strictEqual(await focused(), `status-${newest}`)
          await keys("j", "j", "0")
          assert.strictEqual(await focused(), `status-${newest}`)
          await leads(`/publish?reply_to=${newest}`, "j", "r")
          await leads(`/publish?quote=${newest}`, "j", "q")
          await leads(/\/publish\?.*text=%40lia/, "j", "m")
          await leads("/@lia", "j", "p")
          for (const key of ["o", "Enter"]) await leads(`/@lia/${newest}`, "j", key)
          await leads("/public", "3")
          await leads(/\?max_id=/, "l")
          await leads("/search", "s")
          await leads("/search", "/")
          await leads("/publish", "Alt+n")
          await keys("Escape")
          await keys("Backspace")
          await page.waitForURL(`${baseUrl}/home`)
          await keys("n")
          assert.strictEqual(await page.evaluate("document.activeElement.tagName"), "TEXTAREA")
          await keys("j")
          assert.strictEqual(await page.locator("main textarea").first().inputValue(), "j")
          await keys("Escape", "j", "x")
          await page.locator(`#status-${newest} details.warning[open]`).waitFor()
          await open(`/@lia/${id}`)
          await keys("h")
          await page.locator("details.hidden-files[open]").waitFor()
          await keys("e")
          await page.locator("#viewer[open]").waitFor()
          await keys("Escape")
          await open("/publish")
          await keys("Escape", "Alt+x")
          await page.locator("input[name=spoiler_text]:focus").waitFor()
          for (
            const [key, where] of [
              ["h", "/home"],
              ["n", "/notifications"],
              ["t", "/public"],
              ["e", "/explore"],
              ["d", "/conversations"],
              ["s", "/about"],
              ["f", "/favourites"],
              ["p", "/@kai"],
              ["u", "/@kai"],
              ["b", "/blocks"],
              ["m", "/mutes"],
              ["r", "/follow_requests"]
            ] as const
          ) {
            await open("/keys")
            await keys("g", key)
            await page.waitForURL(baseUrl + where)
          }
          assert.strictEqual(path(), "/follow_requests")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("pictures open in a viewer: arrows, zoom, the description, and back to the picture", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const mia = yield* createPerson("mia")
        const files = [yield* pictured(mia, "The first"), yield* pictured(mia, "The second")]
        const id = yield* publishedId(mia, "two pictures", { media_ids: files })
        const { page, problems } = yield* at(mia)
        yield* Effect.promise(async () => {
          const viewer = page.locator("#viewer")
          const text = () => viewer.locator("figcaption").textContent()
          for (const language of ["en", "ar"]) {
            await page.goto(`${baseUrl}/@mia/${id}?lang=${language}`)
            const [next, previous] = language === "ar" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"]
            await page.getByRole("link", { name: "The first" }).click()
            await viewer.and(page.locator("[open]")).waitFor()
            assert.strictEqual(await text(), "The first")
            assert.strictEqual(await viewer.locator("img").getAttribute("alt"), "The first")
            assert.deepStrictEqual(await axeFinds(page), [])
            await picture(page, `viewer-${language}`)
            await page.keyboard.press(next!)
            assert.strictEqual(await text(), "The second")
            await page.keyboard.press(next!)
            assert.strictEqual(await text(), "The second")
            await page.keyboard.press("z")
            assert.strictEqual(await viewer.getAttribute("class"), "zoomed")
            await page.keyboard.press(previous!)
            assert.strictEqual(await text(), "The first")
            await viewer.locator("button.next").click()
            await page.keyboard.press("Escape")
            await viewer.waitFor({ state: "hidden" })
            // The viewer moves the focus a task after it is hidden.
            await page.waitForFunction("document.activeElement.querySelector('img')?.alt === 'The second'")
          }
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)

describe("the web client by keyboard, with a translation service", () => {
  it.live("F392: t shows the translation of the post with the focus, presses nothing, and Escape leads back to it", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* translationDouble
      const server = TestServer.layer({ TRANSLATION_URL: url, TRANSLATION_KEY: "key1" })
      yield* Effect.provide(
        Effect.gen(function*() {
          const { createPerson } = yield* TestServer
          const [nele, otto] = [yield* createPerson("nele"), yield* createPerson("otto")]
          yield* ask(nele, "POST", `/api/v1/accounts/${otto.accountId}/follow`, {})
          const foreign = yield* publishedId(otto, "Guten Morgen", { language: "de" })
          const own = yield* publishedId(otto, "Good morning", { language: "en" })
          yield* settled
          const { page, problems } = yield* at(nele)
          yield* Effect.promise(async () => {
            const dialog = page.locator("#page-dialog[open]")
            const focused = () => page.evaluate("document.activeElement.closest('article')?.id")
            // A post in the reader's language has no translation.
            await page.keyboard.press("j")
            assert.strictEqual(await focused(), `status-${own}`)
            await page.keyboard.press("t")
            await page.keyboard.press("j")
            assert.strictEqual(await focused(), `status-${foreign}`)
            await page.keyboard.press("t")
            await dialog.getByText("GUTEN MORGEN").waitFor()
            // Enter closes the dialog; it does not boost the post in it.
            assert.strictEqual(await page.evaluate("document.activeElement.closest('article')"), null)
            assert.deepStrictEqual(await axeFinds(page), [])
            await picture(page, "translation")
            await page.keyboard.press("Escape")
            await page.locator("#page-dialog").waitFor({ state: "hidden" })
            await page.waitForFunction(`document.activeElement.closest("article")?.id === "status-${foreign}"`)
            assert.strictEqual(new URL(page.url()).pathname, "/home")
          })
          assert.deepStrictEqual(problems, [])
        }),
        Layer.fresh(Layer.merge(server, Browser.layer))
      )
    })))
})
