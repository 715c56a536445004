import { assert, describe, it as plainly, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { get as ask } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { attachments } from "../../../src/http/pages/Attachments.ts"
import { compressedBytesMin } from "../../../src/layers/Compression.ts"
import { english } from "../../../src/services/languages/Catalogs.ts"
import type { MediaRecord } from "../../../src/services/media/MediaRecord.ts"
import { call } from "../../support/Api.ts"
import { configuration } from "../../support/Reads.ts"
import { TestServer } from "../../support/Server.ts"

const media = (type: MediaRecord["type"], description: string | null): MediaRecord => ({
  id: "1",
  type,
  state: "ready",
  description,
  focusX: null,
  focusY: null,
  meta: {},
  blurhash: null,
  fileName: "a.mp4",
  previewName: "a.png",
  remoteUrl: null,
  remoteKey: null,
  previewRemoteUrl: null,
  previewRemoteKey: null
})
const shown = (...files: ReadonlyArray<MediaRecord>) =>
  String(attachments(configuration, english, { media: files, sensitive: false, spoilerText: "" }))

describe("files of a post on a page", () => {
  plainly("F50: a link has a name where the picture has no description", () => {
    const page = shown(media("image", null), media("image", "A <cat>"))
    assert.match(page, /<a href="[^"]+" aria-label="Image 1 of 2, no description"><img [^>]*alt=""/)
    assert.match(page, /<a href="[^"]+"><img [^>]*alt="A &lt;cat&gt;"/)
  })

  plainly("F50: animations have controls, and one that keeps still stands in for them", () => {
    const [moving = "", still = ""] = shown(media("gifv", "A wave")).match(/<video [^>]*>/g) ?? []
    assert.match(moving, /class="moving".* controls autoplay loop muted/)
    assert.match(still, /class="still".* controls loop muted/)
    assert.notInclude(still, "autoplay")
    for (const one of [moving, still]) assert.include(one, `aria-label="A wave"`)
  })
})

/** Sends a request; returns the raw response without decompression. */
const raw = Effect.fnUntraced(function*(path: string, headers: Record<string, string> = {}) {
  const { baseUrl } = yield* TestServer
  return yield* Effect.promise(() =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
      (resolve, reject) => {
        ask(baseUrl + path, { headers }, (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part) => parts.push(part))
          response.on(
            "end",
            () => resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) })
          )
        }).on("error", reject)
      }
    )
  )
})

layer(TestServer.layer({ PUBLIC_TIMELINES: "members" }), { excludeTestServices: true })(
  "visits",
  (it) => {
    it.effect("F50: unknown addresses are a page to browsers and JSON to programs", () =>
      Effect.gen(function*() {
        const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        for (const path of ["/nowhere", "/api/v1/nowhere", "/a/b/c?d=e", "/%00", "/assets/no.png"]) {
          const page = yield* raw(path, { accept: browser })
          assert.strictEqual(page.status, 404, path)
          assert.match(String(page.headers["content-type"]), /^text\/html/, path)
          assert.include(page.bytes.toString(), "Page not found")
          for (const accept of [undefined, "*/*", "application/json", "application/json, text/html"]) {
            const response = yield* raw(path, accept === undefined ? {} : { accept })
            assert.strictEqual(response.status, 404, path)
            assert.deepStrictEqual(JSON.parse(response.bytes.toString()), { error: "Not Found" })
            assert.match(String(response.headers["vary"]), /Accept/)
          }
        }
        const { fetch } = yield* TestServer
        const posted = yield* fetch("/nowhere", { method: "POST", headers: { accept: browser }, body: "x=1" })
        assert.strictEqual(posted.status, 404)
        assert.match(posted.headers.get("content-type") ?? "", /^text\/html/)
      }))

    it.effect("F50: emoji of a poll's options are among the post's", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { createPerson } = yield* TestServer
        const ada = yield* createPerson("voting")
        const at = new Date()
        yield* sql`INSERT INTO custom_emojis ${
          sql.insert({
            id: 77,
            shortcode: "teapot",
            fileName: "t.png",
            staticName: "t.png",
            createdAt: at,
            updatedAt: at
          })
        }`
        const { body } = yield* call("POST", "/api/v1/statuses", ada.token, {
          status: "Which?",
          poll: { options: [":teapot:", "none"], expires_in: 300 }
        })
        const names = (emojis: ReadonlyArray<{ readonly shortcode: string }>) =>
          emojis.map(({ shortcode }) => shortcode)
        assert.deepStrictEqual([names(body.emojis), names(body.poll.emojis)], [["teapot"], ["teapot"]])
      }))

    it.effect("F50: hashtag pages continue to older posts, and signing in returns to the page", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson, fetch } = yield* TestServer
        const ada = yield* createPerson("poster")
        for (let n = 1; n <= 25; n++) {
          yield* call("POST", "/api/v1/statuses", ada.token, { status: `number ${n}. #many` })
        }
        const closed = yield* Effect.promise(async () => (await fetchText(`${baseUrl}/tags/many?max_id=9`)).text)
        const signIn = /href="(\/auth\/sign_in\?[^"]+)"/.exec(closed)?.[1]?.replaceAll("&amp;", "&") ?? ""
        assert.strictEqual(new URLSearchParams(signIn.split("?")[1]).get("return_to"), "/tags/many?max_id=9")
        const form = yield* Effect.promise(() => fetchText(baseUrl + signIn.replace("%3Fmax_id%3D9", "")))
        const fields = Array.from(
          form.text.matchAll(/name="(\w+)" value="([^"]*)"/g),
          ([, name = "", value = ""]) => [name, value] as const
        )
        const cookie = form.cookies
        const response = yield* fetch("/auth/sign_in", {
          method: "POST",
          redirect: "manual",
          headers: { cookie, origin: baseUrl },
          body: new URLSearchParams(Object.fromEntries([
            ...fields,
            ["email", "poster@example.org"] as const,
            ["password", ada.password] as const
          ]))
        })
        assert.strictEqual(response.status, 302, yield* Effect.promise(() => response.clone().text()))
        assert.strictEqual(response.headers.get("location"), "/tags/many")
        const signedIn = `${cookie}; ${response.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ")}`
        const first = yield* Effect.promise(() => fetchText(`${baseUrl}/tags/many`, signedIn))
        assert.include(first.text, "number 25.")
        assert.notInclude(first.text, "number 5.")
        const next = /<a href="\/tags\/many(\?max_id=\d+)" rel="next">/.exec(first.text)?.[1]
        const second = yield* Effect.promise(() => fetchText(`${baseUrl}/tags/many${next}`, signedIn))
        for (const n of [5, 1]) assert.include(second.text, `number ${n}.`)
        assert.notInclude(second.text, `rel="next"`)
        for (
          const wrong of [
            "//evil.example",
            "/@ada\r\nx: y",
            "https://evil.example/",
            "/@a\\b",
            `/tags/${"x".repeat(5_000)}`,
            "/api/v1"
          ]
        ) {
          const page = yield* Effect.promise(() =>
            fetchText(`${baseUrl}/auth/sign_in?${new URLSearchParams({ return_to: wrong })}`)
          )
          assert.include(page.text, `name="return_to" value="/home"`, wrong)
        }
      }))

    it.effect("F50: HTML and JSON are compressed if it pays; pages with secrets and small ones are not", () =>
      Effect.gen(function*() {
        const path = "/api/v1/instance/languages"
        const plain = yield* raw(path)
        assert.isAbove(plain.bytes.length, compressedBytesMin)
        assert.isUndefined(plain.headers["content-encoding"])
        assert.match(String(plain.headers["vary"]), /Accept-Encoding/)
        for (
          const [accepted, coding, unpack] of [
            ["gzip, deflate, br", "br", brotliDecompressSync],
            ["gzip;q=1.0, br;q=0", "gzip", gunzipSync],
            ["GZIP", "gzip", gunzipSync]
          ] as const
        ) {
          const packed = yield* raw(path, { "accept-encoding": accepted })
          assert.strictEqual(packed.headers["content-encoding"], coding)
          assert.strictEqual(Number(packed.headers["content-length"]), packed.bytes.length)
          assert.isBelow(packed.bytes.length, plain.bytes.length / 2)
          assert.strictEqual(unpack(packed.bytes).toString(), plain.bytes.toString())
          assert.strictEqual(packed.headers["content-type"], plain.headers["content-type"])
          assert.isString(packed.headers["x-request-id"])
        }
        const all = { "accept-encoding": "gzip, br" }
        for (const accepted of ["identity", "", "zstd", "br;q=0, gzip;q=0.000"]) {
          const as = yield* raw(path, { "accept-encoding": accepted })
          assert.isUndefined(as.headers["content-encoding"], accepted)
        }
        for (
          const left of [
            "/auth/sign_in?return_to=/@x",
            "/oauth/authorize?client_id=x",
            "/api/v1/trends",
            "/assets/icon-512.png"
          ]
        ) {
          assert.isUndefined((yield* raw(left, all)).headers["content-encoding"], left)
        }
        for (const page of ["/api/docs", "/api/openapi.json"]) {
          assert.strictEqual((yield* raw(page, all)).headers["content-encoding"], "br", page)
        }
        const german = yield* raw("/api/v1/nowhere", { ...all, "accept-language": "de" })
        assert.strictEqual(JSON.parse(german.bytes.toString()).error, "Nicht gefunden")
      }))
  }
)

const fetchText = async (url: string, cookie?: string) => {
  const response = await fetch(url, cookie === undefined ? {} : { headers: { cookie } })
  const cookies = response.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ")
  return { text: await response.text(), cookies }
}
