import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { ask } from "../support/Api.ts"
import { draftsOf, statusesOf, textOf } from "../support/Composer.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, visit } from "./Browser.ts"
import { press, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "text that the server has not confirmed, in a browser",
  (it) => {
    it.effect("F273, F298: text that neither a save nor a beacon brought to the server is found, and becomes one draft", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const gina = yield* createPerson("gina")
        const { page, problems } = yield* visit()
        const text = page.locator("textarea[name=text]")
        const open = async (path: string) => {
          await page.goto(baseUrl + path)
          await page.locator("form[data-restored]").waitFor()
        }
        const saved = () => page.waitForResponse((response) => response.url().endsWith("/web/compose"))
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, gina)
          await page.addInitScript("navigator.sendBeacon = () => true")
          // Lost before the first save.
          await open("/publish")
          await text.fill("Lost")
          await page.getByText("Content warning").click()
          await page.getByLabel("Shown instead of the text").fill("Of loss")
          await page.getByLabel("Visible to").selectOption("private")
          await page.goto("about:blank")
          await open("/publish")
          assert.strictEqual(await text.inputValue(), "Lost")
          assert.strictEqual(await page.getByLabel("Visible to").inputValue(), "private")
          assert.strictEqual(await page.getByLabel("Shown instead of the text").inputValue(), "Of loss")
          // Lost after a save.
          const [, first] = await Promise.all([text.fill("Lost, and found"), saved()])
          await first.finished()
          await page.getByText("Draft saved").waitFor()
          await text.fill("Lost, and found again")
          await page.goto("about:blank")
          await open("/publish")
          assert.strictEqual(await text.inputValue(), "Lost, and found again")
        })
        const [draft, ...others] = yield* draftsOf(gina)
        assert.containsSubset(draft?.params, {
          text: "Lost, and found",
          spoiler_text: "Of loss",
          visibility: "private"
        })
        assert.deepStrictEqual(others, [])
        // Changed elsewhere while the page was closed: both stay.
        const changed = yield* ask(gina, "PUT", `/api/v1/drafts/${draft?.id}`, { status: "Changed by an app" })
        assert.strictEqual(changed.status, 200)
        yield* Effect.promise(async () => {
          await open("/publish")
          assert.strictEqual(await text.inputValue(), "Lost, and found again")
          await Promise.all([text.pressSequentially("!"), saved()])
          await page.getByText("Draft saved").waitFor()
        })
        const texts = (yield* draftsOf(gina)).map(({ params }) => params["text"])
        assert.sameMembers(texts, ["Changed by an app", "Lost, and found again!"])
        // Published elsewhere: not shown again.
        const own = (yield* draftsOf(gina)).find(({ params }) => params["text"] !== "Changed by an app")
        yield* Effect.promise(async () => {
          await text.pressSequentially("!")
          await page.goto("about:blank")
        })
        yield* ask(gina, "DELETE", `/api/v1/drafts/${own?.id}`)
        yield* Effect.promise(async () => {
          await open("/publish")
          assert.strictEqual(await text.inputValue(), "")
        })
        // The browser notes that the deleted draft is missing.
        assert.strictEqual(problems.length, 1)
        assert.include(problems[0], "404")
      }))

    it.effect("F297: two tabs keep their texts apart without a connection; a sign-out leaves none in the browser", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const hugo = yield* createPerson("hugo")
        const { page } = yield* visit()
        const textIn = (tab: Page) => tab.locator("textarea[name=text]")
        const open = async (tab: Page) => {
          await tab.goto(`${baseUrl}/publish`)
          await tab.locator("form[data-restored]").waitFor()
        }
        const stored = (tab: Page) =>
          tab.evaluate<ReadonlyArray<string>>(`Object.entries(localStorage).flat().filter((one) => /tab/.test(one))`)
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, hugo)
          await page.context().addInitScript("navigator.sendBeacon = () => true")
          await page.context().route("**/web/compose", (route) => route.abort())
          const other = await page.context().newPage()
          await open(page)
          await open(other)
          await textIn(page).fill("From the first tab")
          await textIn(other).fill("From the second tab")
          assert.strictEqual((await stored(page)).length, 2)
          // A third tab takes over the text of a closed one only.
          await page.goto("about:blank")
          await open(page)
          assert.strictEqual(await textIn(page).inputValue(), "From the first tab")
          await other.close()
          await page.context().unroute("**/web/compose")
          await page.locator("nav.side").getByRole("button", { name: "Sign out" }).click()
          await page.waitForURL(/sign_in/)
          assert.deepStrictEqual(await stored(page), [])
        })
        const texts = (yield* draftsOf(hugo)).map(({ params }) => params["text"])
        assert.sameMembers(texts, ["From the first tab", "From the second tab"])
      }))

    it.effect("keeps the text of an ended session until the next sign-in", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const frida = yield* createPerson("frida")
        const { page } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, frida)
          await page.context().clearCookies({ name: /session$/ })
          await page.locator("textarea[name=text]").fill("Written without a session")
          await press(page, "Post")
          await page.getByRole("heading", { name: "Your text is still here" }).waitFor()
          assert.deepStrictEqual(await axeFinds(page), [])
          const [other] = await Promise.all([
            page.context().waitForEvent("page"),
            page.getByRole("link", { name: "Open the sign-in page in a new tab" }).click()
          ])
          await signIn(other, frida)
          await press(page, "Continue writing")
          assert.strictEqual(await page.locator("textarea[name=text]").inputValue(), "Written without a session")
          await press(page, "Post")
        })
        assert.deepStrictEqual((yield* statusesOf(frida)).map(textOf), ["Written without a session"])
      }))
  }
)
