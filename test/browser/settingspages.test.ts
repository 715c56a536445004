import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import sharp from "sharp"
import { ask } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { settingsPaths } from "../support/SettingsPaths.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { press, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "settings of the web, in a browser",
  (it) => {
    it.effect("each page fits and passes Axe at three widths, light and dark", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const ada = yield* createPerson("ada")
        const bob = yield* createPerson("bob")
        yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`, {})
        yield* ask(ada, "POST", "/api/v2/filters", {
          title: "Sports",
          context: ["home"],
          keywords_attributes: [{ keyword: "football" }]
        })
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/settings`)
          await signIn(page, ada)
          for (const path of ["/settings", ...settingsPaths, "/domain_blocks?domain=co.uk"]) {
            await page.goto(baseUrl + path)
            for (const [width, scheme] of [[1280, "light"], [768, "dark"], [390, "light"], [390, "dark"]] as const) {
              await page.setViewportSize({ width, height: 844 })
              await page.emulateMedia({ colorScheme: scheme })
              assert.isFalse(
                await page.evaluate("document.documentElement.scrollWidth > innerWidth"),
                `${path} fits ${width} px`
              )
              assert.deepStrictEqual(await axeFinds(page), [], `${path} at ${width} px, ${scheme}`)
              await picture(page, `${path.replace(/\?.*/, "").replaceAll("/", "_")}-${width}-${scheme}`)
            }
          }
          // Checkboxes are as small as their text.
          await page.goto(`${baseUrl}/invites`)
          const box = await page.locator("input[type=checkbox]").first().boundingBox()
          assert.isBelow(box?.width ?? 999, 30)
          // Labels of the navigation break between words only.
          await page.setViewportSize({ width: 768, height: 844 })
          const broken = await page.evaluate(
            `[...document.querySelectorAll("nav.side span")].filter((one) => one.scrollWidth > one.clientWidth + 1).length`
          )
          assert.strictEqual(broken, 0)
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("a chosen avatar is cropped to the square that was moved; without a script, to the middle", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const eve = yield* createPerson("eve")
        // Red on the left, blue on the right.
        const file = yield* Effect.promise(() =>
          sharp({ create: { width: 300, height: 100, channels: 3, background: "#00f" } })
            .composite([{
              input: { create: { width: 100, height: 100, channels: 3, background: "#f00" } },
              left: 0,
              top: 0
            }]).png().toBuffer()
        )
        const avatar = { name: "a.png", mimeType: "image/png", buffer: file }
        const colorOf = Effect.gen(function*() {
          const { body } = yield* ask(eve, "GET", "/api/v1/accounts/verify_credentials")
          const bytes = yield* Effect.promise(async () => (await fetch(body.avatar)).arrayBuffer())
          const { channels } = yield* Effect.promise(() => sharp(Buffer.from(bytes)).stats())
          return channels.slice(0, 3).map(({ mean }) => Math.round(mean / 255))
        })
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/settings/profile`)
          await signIn(page, eve)
          await page.locator("input[name=avatar]").setInputFiles(avatar)
          const square = page.locator(".kept")
          await square.waitFor()
          for (let at = 0; at < 60; at++) await square.press("ArrowLeft")
          await picture(page, "crop")
          assert.deepStrictEqual(await axeFinds(page), [])
          await press(page, "Save changes")
          assert.include(await page.locator(".done").first().textContent(), "The settings were saved.")
        })
        assert.deepStrictEqual(yield* colorOf, [1, 0, 0])
        yield* Effect.promise(async () => {
          const state = await page.context().storageState()
          const plain = await page.context().browser()!.newContext({ javaScriptEnabled: false, storageState: state })
          const bare = await plain.newPage()
          await bare.goto(`${baseUrl}/settings/profile`)
          await bare.locator("input[name=avatar]").setInputFiles(avatar)
          await bare.getByRole("button", { name: "Save changes" }).click()
          assert.include(await bare.locator(".done").first().textContent(), "The settings were saved.")
          await plain.close()
        })
        assert.deepStrictEqual(yield* colorOf, [0, 0, 1])
        assert.deepStrictEqual(problems, [])
      }))
  }
)
