import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Locator, Page } from "playwright-core"
import sharp from "sharp"
import { ask } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture } from "./Browser.ts"
import { until } from "./LivePages.ts"
import { press, signIn } from "./Visits.ts"

/** A picture with a red left third and a blue rest. */
const drawn = (width: number, height: number) =>
  Effect.promise(() =>
    sharp({ create: { width, height, channels: 3, background: "#00f" } }).composite([{
      input: { create: { width: Math.floor(width / 3), height, channels: 3, background: "#f00" } },
      left: 0,
      top: 0
    }]).png().toBuffer()
  )

const fileOf = (buffer: Buffer) => ({ name: "a.png", mimeType: "image/png", buffer })

/** Returns the position in the window of a point of an element, given as parts of its size. */
const at = async (element: Locator, [x, y]: readonly [number, number]) => {
  const box = await element.boundingBox()
  if (box === null) throw new Error("not visible")
  return { x: box.x + x * box.width, y: box.y + y * box.height }
}

/** Moves a mark of a picture by mouse. */
const dragByMouse = async (page: Page, mark: Locator, to: { readonly x: number; readonly y: number }) => {
  const from = await at(mark, [0.5, 0.5])
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y, { steps: 5 })
  await page.mouse.up()
}

/** Moves a mark of a picture with a finger. */
const dragByTouch = async (page: Page, mark: Locator, to: { readonly x: number; readonly y: number }) => {
  const from = await at(mark, [0.5, 0.5])
  const session = await page.context().newCDPSession(page)
  const send = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: Array<{ x: number; y: number }>) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints })
  await send("touchStart", [from])
  for (const part of [0.25, 0.5, 0.75, 1]) {
    await send("touchMove", [{ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }])
  }
  await send("touchEnd", [])
  await session.detach()
}

/** Opens a page in a window with touch, with or without scripts. */
const open = Effect.fnUntraced(function*(person: Person, path: string, javaScriptEnabled: boolean) {
  const { baseUrl } = yield* TestServer
  const chromium = yield* Browser
  const context = yield* Effect.acquireRelease(
    Effect.promise(() =>
      chromium.newContext({ hasTouch: true, javaScriptEnabled, viewport: { width: 390, height: 844 } })
    ),
    (context) => Effect.promise(() => context.close())
  )
  const page = yield* Effect.promise(() => context.newPage())
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(String(error)))
  yield* Effect.promise(async () => {
    await page.goto(baseUrl + path)
    await signIn(page, person)
  })
  return { page, problems }
})

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "focal points of pictures, in a browser",
  (it) => {
    it.effect("F344: the mark on a picture of the composer follows mouse, finger, arrow keys and the list", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const ines = yield* createPerson("ines")
        // Higher than its place, in which it has no borders.
        const bytes = yield* drawn(100, 400)
        const { page, problems } = yield* open(ines, "/publish", true)
        yield* Effect.promise(async () => {
          await page.locator("input[type=file]").setInputFiles(fileOf(bytes))
          const image = page.locator(".composed-file img")
          await until(page, "document.querySelector('.composed-file img')?.naturalHeight > 0")
          const box = await image.boundingBox()
          assert.closeTo((box?.height ?? 0) / (box?.width ?? 1), 4, 0.1)
          const mark = page.getByRole("slider", { name: "Focal point" })
          const choice = page.locator("select[name^=focus_]")
          const chosen = async () => (await choice.inputValue()).split(",").map(Number)
          const isNear = async (x: number, y: number, by: string) => {
            const [across = 9, up = 9] = await chosen()
            assert.closeTo(across, x, 0.1, by)
            assert.closeTo(up, y, 0.1, by)
            // The mark is at the chosen point.
            const [drawnAt, expected] = [await at(mark, [0.5, 0.5]), await at(image, [(x + 1) / 2, (1 - y) / 2])]
            assert.closeTo(drawnAt.x, expected.x, 4, by)
            assert.closeTo(drawnAt.y, expected.y, 10, by)
          }
          await dragByMouse(page, mark, await at(image, [0.1, 0.9]))
          await isNear(-0.8, -0.8, "mouse")
          await dragByTouch(page, mark, await at(image, [0.8, 0.2]))
          await isNear(0.6, 0.6, "touch")
          for (const key of ["ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown"]) await mark.press(key)
          await isNear(0.4, 0.4, "keyboard")
          assert.match(await mark.getAttribute("aria-valuetext") ?? "", /^\d+% \/ \d+%$/)
          // The point stays in the picture, and is one entry of the list.
          await dragByMouse(page, mark, { x: 0, y: 0 })
          await isNear(-1, 1, "out of the picture")
          assert.strictEqual(await choice.locator("option").count(), 6)
          await choice.selectOption({ label: "Bottom" })
          await isNear(0, -1, "list")
          assert.deepStrictEqual(await axeFinds(page), [])
          await picture(page, "focal-compose")
          await page.locator(".composed-file textarea").fill("A stripe")
          await page.locator("textarea[name=text]").fill("With a point")
          await mark.press("ArrowUp")
          await press(page, "Post")
          await page.waitForURL(/\/home/)
        })
        const { body } = yield* ask(ines, "GET", `/api/v1/accounts/${ines.accountId}/statuses`)
        assert.containsSubset(body[0].media_attachments[0].meta.focus, { x: 0, y: -0.9 })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("F344: without scripts a list has the focal points of files and of a new avatar", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const jan = yield* createPerson("jan")
        const bytes = yield* drawn(300, 100)
        const { page } = yield* open(jan, "/publish", false)
        yield* Effect.promise(async () => {
          await page.locator("textarea[name=text]").fill("With a point")
          await page.locator("input[type=file]").setInputFiles(fileOf(bytes))
          await press(page, "Add file")
          await page.getByLabel("Description for people who cannot see it").fill("A stripe")
          await page.getByLabel("Focal point").selectOption({ label: "Left" })
          await press(page, "Post")
          await page.goto(`${baseUrl}/settings/profile`)
          await page.locator("input[name=avatar]").setInputFiles(fileOf(bytes))
          await page.getByLabel("Part of a new avatar to keep").selectOption({ label: "Left" })
          await press(page, "Save changes")
        })
        const { body } = yield* ask(jan, "GET", `/api/v1/accounts/${jan.accountId}/statuses`)
        assert.containsSubset(body[0].media_attachments[0].meta.focus, { x: -1, y: 0 })
        assert.deepStrictEqual(yield* colorOf(jan, "avatar"), [1, 0, 0])
      }))

    for (const javaScriptEnabled of [true, false]) {
      it.effect(
        `F391: the part of a new header picture is chosen like that of an avatar, ${
          javaScriptEnabled ? "with" : "without"
        } scripts`,
        () =>
          Effect.gen(function*() {
            const { createPerson } = yield* TestServer
            const lea = yield* createPerson(`lea${javaScriptEnabled ? "" : "_plain"}`)
            // Six times as wide as high: half of it is shown.
            const bytes = yield* drawn(600, 100)
            const { page, problems } = yield* open(lea, "/settings/profile", javaScriptEnabled)
            yield* Effect.promise(async () => {
              await page.locator("input[name=header]").setInputFiles(fileOf(bytes))
              if (javaScriptEnabled) {
                const part = page.getByRole("slider", { name: "Part of a new header picture to keep" })
                const whole = page.locator(".crop img")
                await part.waitFor()
                await part.scrollIntoViewIfNeeded()
                const [box, outer] = [await part.boundingBox(), await whole.boundingBox()]
                assert.closeTo((box?.width ?? 0) / (box?.height ?? 1), 3, 0.1)
                assert.closeTo((box?.width ?? 0) / (outer?.width ?? 1), 0.5, 0.05)
                await dragByMouse(page, part, await at(whole, [-0.2, 0.5]))
                assert.closeTo((await part.boundingBox())?.x ?? 0, outer?.x ?? 0, 1)
                assert.strictEqual(await page.evaluate("getSelection().type"), "None")
                assert.deepStrictEqual(await axeFinds(page), [])
                await picture(page, "focal-header")
              } else {
                await page.getByLabel("Part of a new header picture to keep").selectOption({ label: "Left" })
              }
              await press(page, "Save changes")
              await page.getByText("The settings were saved.").first().waitFor()
            })
            // Two thirds of the left half are red.
            assert.deepStrictEqual(yield* colorOf(lea, "header"), [1, 0, 0])
            assert.deepStrictEqual(yield* sizeOf(lea), [300, 100])
            assert.deepStrictEqual(problems, [])
          })
      )
    }

    it.effect("F344: the square of a new avatar follows mouse, finger and arrow keys, and stays in the picture", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const kira = yield* createPerson("kira")
        const bytes = yield* drawn(300, 100)
        const { page, problems } = yield* open(kira, "/settings/profile", true)
        const square = page.locator(".kept")
        const crop = page.locator(".crop img")
        const choose = async () => {
          await page.goto(`${baseUrl}/settings/profile`)
          await page.locator("input[name=avatar]").setInputFiles(fileOf(bytes))
          await square.waitFor()
          await square.scrollIntoViewIfNeeded()
        }
        const leftEdge = async () => ((await square.boundingBox())?.x ?? 0) - ((await crop.boundingBox())?.x ?? 0)
        const save = async () => {
          await press(page, "Save changes")
          await page.getByText("The settings were saved.").first().waitFor()
        }
        yield* Effect.promise(async () => {
          await choose()
          // Beyond the edge, and back by the way that the pointer is outside.
          await dragByMouse(page, square, await at(crop, [-0.2, 0.5]))
          assert.closeTo(await leftEdge(), 0, 1)
          await picture(page, "focal-avatar")
          await save()
        })
        assert.deepStrictEqual(yield* colorOf(kira, "avatar"), [1, 0, 0])
        yield* Effect.promise(async () => {
          await choose()
          await dragByTouch(page, square, await at(crop, [1, 0.5]))
          assert.isAbove(await leftEdge(), 100)
          await save()
        })
        assert.deepStrictEqual(yield* colorOf(kira, "avatar"), [0, 0, 1])
        yield* Effect.promise(async () => {
          await choose()
          for (let count = 0; count < 20; count++) await square.press("ArrowLeft")
          assert.closeTo(await leftEdge(), 0, 1)
          // The first press back moves it.
          await square.press("ArrowRight")
          assert.isAbove(await leftEdge(), 1)
          await square.press("ArrowLeft")
          assert.deepStrictEqual(await axeFinds(page), [])
          await save()
        })
        assert.deepStrictEqual(yield* colorOf(kira, "avatar"), [1, 0, 0])
        assert.deepStrictEqual(problems, [])
      }))
  }
)

const stored = Effect.fnUntraced(function*(person: Person, kind: "avatar" | "header") {
  const { body } = yield* ask(person, "GET", "/api/v1/accounts/verify_credentials")
  return Buffer.from(yield* Effect.promise(async () => (await fetch(body[kind])).arrayBuffer()))
})

/** Mean of red, green and blue of a profile picture, each rounded to 0 or 1. */
const colorOf = Effect.fnUntraced(function*(person: Person, kind: "avatar" | "header") {
  const bytes = yield* stored(person, kind)
  const { channels } = yield* Effect.promise(() => sharp(bytes).stats())
  return channels.slice(0, 3).map(({ mean }) => Math.round(mean / 255))
})

/** Width and height of a header picture. */
const sizeOf = Effect.fnUntraced(function*(person: Person) {
  const bytes = yield* stored(person, "header")
  const { height, width } = yield* Effect.promise(() => sharp(bytes).metadata())
  return [width, height]
})
