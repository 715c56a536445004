import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import sharp from "sharp"
import { call, newPerson } from "../../support/Api.ts"
import { silent, sound, video } from "../../support/Ffmpeg.ts"
import * as Hostile from "../../support/HostileFiles.ts"
import { blob, bytesAt, form, picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

const marker = "<script>alert('murmuration')</script>"

/** A loopback server that counts its requests. */
const bait = Effect.acquireRelease(
  Effect.promise(async () => {
    let visits = 0
    const server = createServer((_request, response) => {
      visits++
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { server, url: `http://127.0.0.1:${port}/x.png`, visits: () => visits }
  }),
  ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
)

const files = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT name FROM stored_files`
  return rows.map(({ name }) => name)
})

const sent = (token: string, bytes: Uint8Array, name: string, type: string) => {
  const data = new FormData()
  data.set("file", new Blob([new Uint8Array(bytes)], { type }), name)
  return call("POST", "/api/v1/media", token, data)
}

layer(TestServer.layer(), { excludeTestServices: true })("hostile files", (it) => {
  it.effect("row 44, row 47: SVG, scripts and lists of other files are refused under any name, and nothing is fetched", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada")
      const { url, visits } = yield* bait
      const texts = Hostile.textsOf(url)
      for (const [what, text] of Object.entries(texts)) {
        for (
          const [name, type] of [["a.jpg", "image/jpeg"], ["a.mp4", "video/mp4"], ["a.svg", "image/svg+xml"]] as const
        ) {
          const { body, status } = yield* sent(ada.token, new TextEncoder().encode(text), name, type)
          assert.deepStrictEqual([status, body.error], [422, "File type of uploaded media could not be verified"], what)
        }
      }
      for (const what of ["hls", "ffconcat", "svg", "mvg"]) {
        for (const [as, bytes] of Object.entries(Hostile.disguised(texts[what] ?? ""))) {
          const { body, status } = yield* sent(ada.token, bytes, `a.${as}`, "application/octet-stream")
          assert.strictEqual(status, 422, `${what} as ${as}`)
          assert.isString(body.error)
        }
      }
      assert.strictEqual(visits(), 0)
      assert.deepStrictEqual(yield* files, [])
    }))

  it.effect("row 44, row 51: the client's name of a file is never used as a path", () =>
    Effect.gen(function*() {
      const bob = yield* newPerson("bob")
      const bytes = yield* Effect.promise(() => picture().png().toBuffer())
      const names = [
        "../../../outside.png",
        "..\\..\\outside.png",
        "/tmp/outside.png",
        "a\0b.png",
        `${"x".repeat(300)}.png`,
        "."
      ]
      for (const name of names) {
        const { body, status } = yield* sent(bob.token, bytes, name, "image/png")
        // A header with a NUL is invalid.
        assert.strictEqual(status, name.includes("\0") ? 400 : 200, name)
        if (status === 200) assert.match(body.url, /\/[0-9a-v]{2}\/[0-9a-v]{32}\.png$/)
      }
      for (const name of yield* files) assert.match(name, /^([0-9a-v]{2})\/\1[0-9a-v]{30}\.png$/)
      assert.isFalse(existsSync("/tmp/outside.png"))
    }))

  it.effect("row 46: a polyglot file is re-encoded as one type", () =>
    Effect.gen(function*() {
      const cleo = yield* newPerson("cleo")
      const tail = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from(`PK\x03\x04${marker}`)])
      const jpeg = yield* Effect.promise(() => picture().jpeg().toBuffer())
      // A comment directly after the start of the picture.
      const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, marker.length + 2]), Buffer.from(marker)])
      const polyglots = {
        "image/jpeg": tail(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])),
        "image/png": tail(yield* Effect.promise(() => picture().png().toBuffer())),
        "image/webp": tail(yield* Effect.promise(() => picture().webp().toBuffer())),
        "image/gif": tail(Hostile.gifOf(1, 8, marker)),
        "video/mp4": tail(yield* video("a.mp4", ["-metadata", `title=${marker}`])),
        "audio/mpeg": tail(yield* sound("a.mp3", ["-metadata", `comment=${marker}`]))
      }
      for (const [type, bytes] of Object.entries(polyglots)) {
        assert.include(bytes.toString("latin1"), marker)
        const { preview_url, url } = yield* uploaded(cleo, bytes)
        for (const one of [url, preview_url].filter((one) => one !== null)) {
          const back = yield* bytesAt(one)
          assert.notInclude(Buffer.from(back.bytes).toString("latin1"), "script", type)
          assert.strictEqual(back.headers.get("x-content-type-options"), "nosniff")
          assert.match(back.headers.get("content-security-policy") ?? "", /^default-src 'none'/)
          if (one === url) assert.strictEqual(back.headers.get("content-type"), type)
        }
      }
      // An animated PNG becomes its first picture.
      const still = yield* uploaded(cleo, Hostile.apngOf(3))
      const { bytes } = yield* bytesAt(still.url)
      assert.notInclude(Buffer.from(bytes).toString("latin1"), "acTL")
    }))

  it.effect("row 48: bombs are refused with a message, before they are decoded", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const bombs: ReadonlyArray<readonly [Buffer, string]> = [
        [Hostile.pngOf(16_000, 16_000), "16000x16000 images are not supported"],
        [Hostile.pngOf(100_000_000, 1), "100000000x1 images are not supported"],
        [Hostile.pngOf(1, 100_000), "1x100000 images are not supported"],
        [Hostile.pngThatSays(30_000, 30_000), "30000x30000 images are not supported"],
        [yield* Effect.promise(() => Hostile.avifThatSays(30_000, 30_000)), "30000x30000 images are not supported"],
        [Hostile.gifOf(10_000), "Animations of 10000 frames are not supported"],
        [Hostile.gifOf(900, 950), "Animations of 900 frames are not supported"],
        [Hostile.gifOf(2, 1_000), "1000x1000 GIF files are not supported"],
        [yield* Effect.promise(() => Hostile.webpOf(10_000)), "Animations of 10000 frames are not supported"]
      ]
      for (const [bytes, text] of bombs) {
        const { body, status } = yield* sent(dora.token, bytes, "a", "image/png")
        assert.deepStrictEqual([status, body.error], [422, text])
      }
      const avatar = yield* call(
        "PATCH",
        "/api/v1/accounts/update_credentials",
        dora.token,
        form({ avatar: blob(Hostile.pngOf(16_000, 16_000)), header: blob(Hostile.gifOf(10_000)) })
      )
      assert.deepInclude(avatar, { status: 422 })
      // An animated PNG of 10,000 frames shows one.
      assert.strictEqual((yield* uploaded(dora, Hostile.apngOf(10_000))).meta.original.size, "8x8")
    }))

  it.effect("a truncated file is refused or shown up to its end, and never left pending", () =>
    Effect.gen(function*() {
      const eve = yield* newPerson("eve")
      const whole = picture(400, 300)
      const kinds = {
        jpg: yield* Effect.promise(() => whole.jpeg().toBuffer()),
        png: yield* Effect.promise(() => whole.png().toBuffer()),
        webp: yield* Effect.promise(() => whole.webp().toBuffer()),
        avif: yield* Effect.promise(() => whole.avif().toBuffer()),
        gif: yield* silent("a.gif"),
        mp4: yield* video("a.mp4"),
        webm: yield* video("a.webm", ["-c:v", "libvpx", "-c:a", "libvorbis"]),
        mp3: yield* sound("a.mp3"),
        ogg: yield* sound("a.ogg", ["-c:a", "libvorbis"]),
        flac: yield* sound("a.flac"),
        wav: yield* sound("a.wav")
      }
      const refused: Array<string> = []
      for (const [name, bytes] of Object.entries(kinds)) {
        for (const part of [0.02, 0.5, 0.97]) {
          const { body, status } = yield* sent(
            eve.token,
            bytes.subarray(0, Math.ceil(bytes.length * part)),
            `a.${name}`,
            ""
          )
          assert.include([200, 422], status, `${name} ${part}`)
          if (status === 422) refused.push(`${name} ${part}`)
          else assert.isString(body.url)
        }
      }
      // Without an index at its end, and without half a picture.
      assert.includeMembers(refused, ["mp4 0.5", "jpg 0.5", "png 0.5", "webp 0.5", "avif 0.5"])
    }))

  it.effect("unsupported picture types are not advertised: no HEIC, no SVG, no JPEG XL", () =>
    Effect.gen(function*() {
      const fay = yield* newPerson("fay")
      const { body: instance } = yield* call("GET", "/api/v2/instance", undefined)
      const types: ReadonlyArray<string> = instance.configuration.media_attachments.supported_mime_types
      assert.includeMembers([...types], [
        "image/jpeg",
        "image/png",
        "image/webp",
        "image/gif",
        "image/avif",
        "video/mp4"
      ])
      for (const none of ["image/heic", "image/heif", "image/svg+xml", "image/jxl", "image/tiff"]) {
        assert.notInclude(types, none)
      }
      assert.isUndefined(sharp.format.heif.input.fileSuffix?.find((suffix) => suffix === ".heic"))
      for (const brand of ["heic", "mif1"]) {
        const { body, status } = yield* sent(
          fay.token,
          Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`),
          "a.heic",
          "image/heic"
        )
        assert.deepStrictEqual([status, body.error], [
          422,
          "Validation failed: File content type is invalid, File is invalid"
        ])
      }
      const taken = yield* uploaded(fay, yield* Effect.promise(() => picture().avif().toBuffer()))
      assert.match(taken.url, /\.jpg$/)
    }))
})
