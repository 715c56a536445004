import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { ask } from "../support/Api.ts"
import { draftsOf, statusesOf, textOf } from "../support/Composer.ts"
import { picture as drawn, uploaded } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { press, signIn } from "./Visits.ts"

const widths = [1280, 768, 390]

/** Returns Axe's findings and overflows of the open page at three widths, in light and dark. */
const lookedAt = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      const by = await (scheme === "light" ? axeFinds : axeFindsInColors)(page)
      found.push(...by.map((one) => `${name} ${width} ${scheme}: ${one}`))
      await picture(page, `compose-${name}-${width}-${scheme}`)
    }
    const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
    if (wide === true) found.push(`${name} is wider than ${width}`)
  }
  return found
}

const png = Effect.promise(() => drawn(640, 400).png().toBuffer())

/** Simulates a paste or a drop of a file. */
const giveFile = (page: Page, kind: "paste" | "drop", bytes: Buffer) =>
  page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${bytes.toString("base64")}"), (one) => one.charCodeAt(0))
    const data = new DataTransfer()
    data.items.add(new File([bytes], "given.png", { type: "image/png" }))
    const event = "${kind}" === "paste"
      ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
      : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
    document.querySelector("form[data-compose] textarea").dispatchEvent(event)
  })()`)

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the composer in a browser",
  (it) => {
    it.effect("looks well at three widths in light and dark", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
        const { body: parent } = yield* ask(bob, "POST", "/api/v1/statuses", { status: "@ada what do you think?" })
        const file = yield* uploaded(ada, yield* png, { description: "An orange stripe on blue" })
        const draft = yield* ask(ada, "POST", "/api/v1/drafts", {
          status: "A picture",
          media_ids: [file.id],
          spoiler_text: "Colours"
        })
        yield* ask(ada, "POST", "/api/v1/statuses", { status: "In the future", scheduled_at: "2090-01-01T10:00:00Z" })
        const { body: edited } = yield* ask(ada, "POST", "/api/v1/statuses", { status: "First version" })
        yield* ask(ada, "PUT", `/api/v1/statuses/${edited.id}`, { status: "Second version" })
        const { page, problems } = yield* visit()
        const found = yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, ada)
          const all: Array<string> = []
          const paths = {
            new: "/publish",
            home: "/home",
            reply: `/publish?reply_to=${parent.id}`,
            draft: `/publish?draft=${draft.body.id}`,
            edit: `/publish?edit=${edited.id}`,
            drafts: "/drafts",
            scheduled: "/scheduled",
            history: `/@ada/${edited.id}/history`,
            emojis: "/publish/emojis"
          }
          for (const [name, path] of Object.entries(paths)) {
            await page.goto(baseUrl + path)
            if (name === "new") {
              await page.locator("details.part").evaluateAll((all) =>
                all.forEach((one) => one.setAttribute("open", ""))
              )
            }
            all.push(...await lookedAt(page, name))
          }
          return all
        })
        assert.deepStrictEqual(found, [])
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("saves while typing, keeps the text of a closed tab, and posts it once", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const cleo = yield* createPerson("cleo")
        const { page, problems } = yield* visit("phone")
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, cleo)
          const saved = page.waitForResponse((response) => response.url().endsWith("/web/compose"))
          await page.locator("textarea[name=text]").fill("Half a thought https://example.org/a/long/address")
          assert.strictEqual(await page.locator("[data-left]").textContent(), "462 characters left")
          await saved
          await page.getByText("Draft saved").waitFor()
          await page.locator("textarea[name=text]").fill("A whole thought")
          // The tab closes before the next save: the text is sent when the page unloads, or found by the next visit.
          await page.goto("about:blank")
          await page.goto(`${baseUrl}/publish`)
          await page.locator("form[data-restored]").waitFor()
          const text = page.locator("textarea[name=text]")
          if (await text.inputValue() === "") await page.getByRole("link", { name: "Continue writing" }).click()
          assert.strictEqual(await page.locator("textarea[name=text]").inputValue(), "A whole thought")
          await page.getByRole("button", { name: "Post", exact: true }).dblclick()
          await page.waitForURL(/\/home/)
        })
        assert.deepStrictEqual((yield* statusesOf(cleo)).map(textOf), ["A whole thought"])
        assert.deepStrictEqual(yield* draftsOf(cleo), [])
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F345: the first press posts, also after the draft was saved", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const fay = yield* createPerson("fay")
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, fay)
          await page.locator("textarea[name=text]").fill("Written slowly")
          await page.getByText("Draft saved").waitFor()
          await page.getByRole("button", { name: "Post", exact: true }).click()
          await page.waitForURL(/\/home/)
        })
        assert.deepStrictEqual((yield* statusesOf(fay)).map(textOf), ["Written slowly"])
        assert.deepStrictEqual(yield* draftsOf(fay), [])
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("uploads chosen, pasted and dropped files with previews, completes names, and picks emoji", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const dora = yield* createPerson("dora")
        const bytes = yield* png
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/publish`)
          await signIn(page, dora)
          const field = page.locator("textarea[name=text]")
          await page.locator("input[type=file]").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: bytes })
          await page.locator(".composed-file").nth(0).waitFor()
          await giveFile(page, "paste", bytes)
          await page.locator(".composed-file").nth(1).waitFor()
          await giveFile(page, "drop", bytes)
          await page.locator(".composed-file").nth(2).waitFor()
          await page.locator("button[value^=remove_file_]").nth(2).click()
          assert.strictEqual(await page.locator(".composed-file").count(), 2)
          await page.locator(".composed-file textarea").nth(0).fill("one")
          await page.locator(".composed-file textarea").nth(1).fill("two")
          await page.locator(".composed-file img").nth(0).click({ position: { x: 5, y: 5 } })
          await field.pressSequentially("Hello @dor")
          await page.getByRole("option").first().waitFor()
          assert.deepStrictEqual(await axeFinds(page), [])
          await page.keyboard.press("Enter")
          assert.strictEqual(await field.inputValue(), "Hello @dora ")
          await page.getByRole("button", { name: "Emoji" }).click()
          await page.locator(".emoji-picker").getByRole("button", { name: "🎉" }).click()
          assert.strictEqual(await field.inputValue(), "Hello @dora 🎉")
          assert.deepStrictEqual(await axeFinds(page), [])
          await picture(page, "compose-files")
          await field.press("Control+Enter")
          await page.waitForURL(/\/home/)
        })
        const [post] = yield* statusesOf(dora)
        assert.strictEqual(textOf(post!), "Hello @dora 🎉")
        assert.containsSubset(post!["media_attachments"], [{ description: "one" }, { description: "two" }])
        // The click was in the upper left corner; y points upwards.
        const [{ meta }] = post!["media_attachments"] as [
          { readonly meta: { readonly focus: { x: number; y: number } } }
        ]
        assert.isBelow(meta.focus.x, -0.5)
        assert.isAbove(meta.focus.y, 0.5)
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("works without scripts: file, description, poll, thread, draft", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const emil = yield* createPerson("emil")
        const bytes = yield* png
        const browser = yield* Browser
        const context = yield* Effect.acquireRelease(
          Effect.promise(() => browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })),
          (context) => Effect.promise(() => context.close())
        )
        yield* Effect.promise(async () => {
          const page = await context.newPage()
          await page.goto(`${baseUrl}/home`)
          await signIn(page, emil)
          await page.getByLabel("What is on your mind?").fill("From Home")
          await page.locator("main").getByRole("button", { name: "More" }).click()
          await page.getByLabel("Add a picture, video or audio file").setInputFiles({
            name: "a.png",
            mimeType: "image/png",
            buffer: bytes
          })
          await press(page, "Add file")
          assert.strictEqual(await page.locator("textarea[name=text]").inputValue(), "From Home")
          await press(page, "Post")
          await page.getByText("A file has no description.").waitFor()
          await page.getByLabel("Description for people who cannot see it").fill("blue and orange")
          await press(page, "Add another post")
          await page.getByLabel("Post 2").fill("And the rest")
          await press(page, "Post")
          assert.include(page.url(), "/home#status-")
          await page.goto(`${baseUrl}/publish`)
          await page.getByText("Poll", { exact: true }).click()
          await page.locator("input[name='option[]']").nth(0).fill("Tea")
          await page.locator("input[name='option[]']").nth(1).fill("Coffee")
          await page.locator("textarea[name=text]").fill("Which?")
          await press(page, "Save draft")
          await page.getByText("Draft saved").first().waitFor()
          await press(page, "Post")
        })
        const [poll, second, first] = yield* statusesOf(emil)
        assert.containsSubset(poll, { poll: { options: [{ title: "Tea" }, { title: "Coffee" }] } })
        assert.strictEqual(second!["in_reply_to_id"], first!["id"])
        assert.containsSubset(first!["media_attachments"], [{ description: "blue and orange" }])
      }))
  }
)
