import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import sharp from "sharp"
import { draftsOf, statusesOf } from "../support/Composer.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, picture } from "./Browser.ts"
import { leaveBy, phone, returning, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the way back to a refused form",
  (it) => {
    for (const javaScriptEnabled of [true, false]) {
      const mode = javaScriptEnabled ? "with" : "without"
      it.effect(`F390: has what was typed and the reason, and sends no form again, ${mode} scripts`, () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const pia = yield* createPerson(`pia${mode}`)
          const bytes = yield* Effect.promise(() =>
            sharp({ create: { width: 40, height: 30, channels: 3, background: "#06c" } }).png().toBuffer()
          )
          const context = yield* phone(javaScriptEnabled)
          const page = yield* Effect.promise(() => context.newPage())
          const returned = yield* returning(page)
          yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/settings/profile`)
            await signIn(page, pia)
            const send = (name: string) =>
              leaveBy(page, page.getByRole("button", { name, exact: true }).and(page.locator("main button")).last())
            const text = page.locator("textarea[name=text]")

            // A field without a label.
            await page.goto(`${baseUrl}/settings/profile`)
            await page.getByLabel("About you").fill("Written with care")
            await page.locator("[name=field_value_0]").fill("A value without a label")
            await send("Save changes")
            await returned(async () => {
              await page.locator("main .problem").first().waitFor()
              assert.strictEqual(await page.getByLabel("About you").inputValue(), "Written with care")
              assert.strictEqual(await page.locator("[name=field_value_0]").inputValue(), "A value without a label")
            })
            await picture(page, `refused-settings-${mode}`)
            await page.locator("[name=field_name_0]").fill("Label")
            await send("Save changes")
            await page.getByText("The settings were saved.").first().waitFor()
            assert.strictEqual(await page.locator("[name=field_value_0]").inputValue(), "A value without a label")
            assert.strictEqual(await page.locator("main .problem").count(), 0)

            // A poll with one option.
            await page.goto(`${baseUrl}/publish`)
            await text.fill("Tea?")
            await page.locator("summary").getByText("Poll").click()
            await page.locator("input[name='option[]']").first().fill("Tea")
            await send("Post")
            await returned(async () => {
              await page.locator("main .problem").first().waitFor()
              assert.strictEqual(await text.inputValue(), "Tea?")
              assert.strictEqual(await page.locator("input[name='option[]']").first().inputValue(), "Tea")
            })
            await picture(page, `refused-poll-${mode}`)
            await page.locator("input[name='option[]']").nth(1).fill("Coffee")
            await send("Post")
            await page.waitForURL(/\/home/)

            // The question for a description.
            await page.goto(`${baseUrl}/publish`)
            await text.fill("A blue picture")
            await page.locator("input[type=file]").setInputFiles({
              name: "a.png",
              mimeType: "image/png",
              buffer: bytes
            })
            if (javaScriptEnabled) await page.locator(".composed-file img").waitFor()
            await send("Post")
            await returned(async () => {
              await page.getByText("A file has no description.").waitFor()
              assert.strictEqual(await text.inputValue(), "A blue picture")
              assert.strictEqual(await page.locator(".composed-file img").count(), 1)
            })
            await picture(page, `refused-question-${mode}`)
            await page.getByRole("button", { name: "Post anyway" }).click()
            await page.waitForURL(/\/home/)

            if (!javaScriptEnabled) {
              // A page that is no refusal: the preview.
              await page.goto(`${baseUrl}/publish`)
              await text.fill("Looked at first")
              await send("Preview")
              await returned(async () => assert.strictEqual(await text.inputValue(), "Looked at first"))
              await send("Post")
              await page.waitForURL(/\/home/)
            }
          })
          const posts = yield* statusesOf(pia)
          assert.lengthOf(posts, javaScriptEnabled ? 2 : 3)
          assert.deepStrictEqual(yield* draftsOf(pia), [])
        }))
    }
  }
)
