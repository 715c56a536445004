import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import sharp from "sharp"
import { call } from "../support/Api.ts"
import { silent, soundWithCover, video } from "../support/Ffmpeg.ts"
import { blob, form, uploaded } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, picture, visit } from "./Browser.ts"

const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))

/** Makes a picture with a gradient between two colours, and a disc in the middle. */
const painted = (width: number, height: number, from: string, to: string) =>
  Effect.promise(() => {
    const [begin, end] = [channels(from), channels(to)]
    const pixels = new Uint8Array(width * height * 3)
    for (let index = 0; index < width * height; index++) {
      const [x, y] = [index % width, Math.floor(index / width)]
      const part = (x / width + y / height) / 2
      const disc = Math.hypot(x - width / 2, y - height / 2) < height / 4
      for (let channel = 0; channel < 3; channel++) {
        const value = begin[channel]! * (1 - part) + end[channel]! * part
        pixels[index * 3 + channel] = disc ? (value + 255) / 2 : value
      }
    }
    return sharp(pixels, { raw: { width, height, channels: 3 } }).png().toBuffer()
  })

/** State of the media on a page, evaluated in the browser. */
const loaded = `(async () => {
  const media = [...document.querySelectorAll("video, audio")].filter((one) => one.checkVisibility() || one.tagName === "AUDIO")
  for (const one of media) {
    one.preload = "auto"
    if (one.readyState < 2) {
      one.load()
      await new Promise((done) => { one.onloadeddata = done; one.onerror = done; setTimeout(done, 60_000) })
    }
  }
  const images = [...document.querySelectorAll(".files img")]
  images.forEach((one) => { one.loading = "eager" })
  await Promise.all(images.map((one) => one.decode().catch(() => {})))
  return {
    images: images.map((one) => [one.naturalWidth > 0, one.alt]),
    media: media.map((one) => [one.tagName, one.readyState >= 2, Math.round(one.duration), one.ariaLabel])
  }
})()`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "files on a page, in a browser",
  (it) => {
    it.effect(
      "pictures, an animation, a video and a sound load and play under the page's policy",
      () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const ada = yield* createPerson("ada")
          const face = yield* painted(400, 400, "#7b2cbf", "#f72585")
          const banner = yield* painted(1500, 500, "#264653", "#e9c46a")
          yield* call(
            "PATCH",
            "/api/v1/accounts/update_credentials",
            ada.token,
            form({ avatar: blob(face), header: blob(banner), display_name: "Ada" })
          )
          const publishWith = Effect.fnUntraced(function*(
            text: string,
            files: ReadonlyArray<readonly [bytes: Uint8Array, description: string]>,
            more: Record<string, unknown> = {}
          ) {
            const media = yield* Effect.forEach(files, ([bytes, description]) => uploaded(ada, bytes, { description }))
            const json = { status: text, media_ids: media.map(({ id }) => id), ...more }
            const { status } = yield* call("POST", "/api/v1/statuses", ada.token, json)
            assert.strictEqual(status, 200)
          })
          const cover = yield* painted(300, 300, "#2a9d8f", "#e76f51")
          yield* publishWith("Hidden until somebody looks", [[face, "behind a summary"]], { sensitive: true })
          yield* publishWith("A song", [[yield* soundWithCover(cover, []), "a tone"]])
          yield* publishWith("A film", [[yield* video("a.mp4"), "test patterns"]])
          yield* publishWith("It moves", [[yield* silent("a.gif"), "test patterns again"]])
          yield* publishWith("Four pictures", [
            [yield* painted(1600, 900, "#003049", "#fcbf49"), "evening"],
            [yield* painted(800, 1200, "#386641", "#a7c957"), "a tall wood"],
            [yield* painted(2000, 500, "#3a0ca3", "#4cc9f0"), "a wide sea"],
            [yield* painted(64, 64, "#d00000", "#ffba08"), "a small fire"]
          ])

          for (const size of ["desk", "phone"] as const) {
            const { page, problems } = yield* visit(size)
            const found = yield* Effect.promise(async () => {
              await page.goto(`${baseUrl}/@ada`)
              await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")))
              const result = await page.evaluate(loaded)
              await picture(page, `media-${size}`)
              assert.isFalse(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), "fits")
              // F50: an animation has controls and does not play by itself.
              const playing = () =>
                page.evaluate(`[...document.querySelectorAll("video[loop]")]
                .filter((one) => one.checkVisibility()).map(({ autoplay, controls }) => ({ autoplay, controls }))`)
              assert.deepStrictEqual(await playing(), [{ autoplay: false, controls: true }])
              return result
            })
            assert.deepStrictEqual(found, {
              images: [
                [true, "evening"],
                [true, "a tall wood"],
                [true, "a wide sea"],
                [true, "a small fire"],
                [true, "behind a summary"]
              ],
              media: [
                ["VIDEO", true, 1, "test patterns again"],
                ["VIDEO", true, 1, "test patterns"],
                ["AUDIO", true, 1, "a tone"]
              ]
            })
            assert.deepStrictEqual(problems, [])
          }
        })
    )
  }
)
