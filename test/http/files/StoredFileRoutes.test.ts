import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { bytesAt, picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

/** Uploads a picture; returns its URL, its stored bytes, and its ETag. */
const published = Effect.fnUntraced(function*(name: string) {
  const person = yield* (yield* TestServer).createPerson(name)
  const { url } = yield* uploaded(person, yield* Effect.promise(() => picture().png().toBuffer()))
  const { bytes, headers } = yield* bytesAt(url)
  return { url: String(url), bytes, etag: headers.get("etag") ?? "" }
})

/** Requests a raw path; `fetch` would normalise it. */
const raw = (path: string, method = "GET") =>
  Effect.flatMap(
    TestServer,
    ({ baseUrl }) =>
      Effect.promise(() =>
        new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
          const { hostname, port } = new URL(baseUrl)
          request({ hostname, port, path, method }, (response) => {
            const chunks: Array<Buffer> = []
            response.on("data", (chunk) => chunks.push(chunk))
            response.on(
              "end",
              () => resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString("latin1") })
            )
          }).on("error", reject).end()
        })
      )
  )

layer(TestServer.layer(), { excludeTestServices: true })("files that the server serves", (it) => {
  it.effect("row 46: a file is served with a type from the table, runs no scripts, and is cached for a year", () =>
    Effect.gen(function*() {
      const { bytes, url } = yield* published("ada")
      const { headers, status } = yield* bytesAt(url)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        [
          "content-type",
          "content-length",
          "cache-control",
          "content-security-policy",
          "x-content-type-options",
          "accept-ranges",
          "access-control-allow-origin",
          "set-cookie"
        ].map((name) => headers.get(name)),
        [
          "image/png",
          String(bytes.length),
          "public, max-age=31536000, immutable",
          "default-src 'none'; form-action 'none'; frame-ancestors 'none'",
          "nosniff",
          "bytes",
          "*",
          null
        ]
      )
      const head = yield* Effect.promise(() => fetch(url, { method: "HEAD" }))
      assert.strictEqual(head.status, 200)
      for (const name of ["content-type", "content-length", "etag", "accept-ranges"]) {
        assert.strictEqual(head.headers.get(name), headers.get(name), name)
      }
      assert.strictEqual((yield* raw(new URL(url).pathname, "HEAD")).body, "")
    }))

  it.effect("ranges: 206 with their range, 416 beyond the end, the whole file for several or invalid ranges", () =>
    Effect.gen(function*() {
      const { bytes, url } = yield* published("bob")
      const size = bytes.length
      const parts: ReadonlyArray<readonly [range: string, from: number, to: number]> = [
        ["bytes=0-0", 0, 1],
        ["bytes=10-19", 10, 20],
        ["bytes=10-", 10, size],
        ["bytes=-7", size - 7, size],
        [`bytes=-${size * 2}`, 0, size],
        [`bytes=5-${size * 9}`, 5, size]
      ]
      for (const [range, from, to] of parts) {
        const found = yield* bytesAt(url, { range })
        assert.deepStrictEqual(
          [found.status, found.headers.get("content-range"), found.headers.get("content-length")],
          [206, `bytes ${from}-${to - 1}/${size}`, String(to - from)],
          range
        )
        assert.deepStrictEqual(found.bytes, bytes.slice(from, to), range)
      }
      for (const range of [`bytes=${size}-`, "bytes=-0", `bytes=${size}-${size + 5}`]) {
        const { headers, status } = yield* bytesAt(url, { range })
        assert.deepStrictEqual([status, headers.get("content-range")], [416, `bytes */${size}`], range)
      }
      for (const range of ["bytes=0-1,5-6", "items=0-1", "bytes=5-1", "bytes=-", "bytes=a-b"]) {
        const found = yield* bytesAt(url, { range })
        assert.deepStrictEqual([found.status, found.bytes.length], [200, size], range)
      }
    }))

  it.effect("ETags: 304 for a cached copy, ranges only of the file that If-Range names", () =>
    Effect.gen(function*() {
      const { bytes, etag, url } = yield* published("cleo")
      assert.match(etag, /^"[0-9a-v]{32}"$/)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const found = yield* bytesAt(url, { "if-none-match": known })
        assert.deepStrictEqual([found.status, found.bytes.length, found.headers.get("etag")], [304, 0, etag], known)
      }
      assert.strictEqual((yield* bytesAt(url, { "if-none-match": `"other"` })).status, 200)
      const range = "bytes=0-9"
      assert.strictEqual((yield* bytesAt(url, { range, "if-range": etag })).status, 206)
      for (const other of [`"other"`, `W/${etag}`, "Sat, 21 Nov 2026 00:00:00 GMT"]) {
        const found = yield* bytesAt(url, { range, "if-range": other })
        assert.deepStrictEqual([found.status, found.bytes.length], [200, bytes.length], other)
      }
    }))

  it.effect("row 51: no spelling of a path leads outside the folder, nor to the original upload", () =>
    Effect.gen(function*() {
      const { variables } = yield* TestServer
      const { bytes, url } = yield* published("dora")
      const folder = `${variables["DATA_DIR"]}/media`
      const secret = "not for anybody"
      const hidden = "aa".padEnd(32, "b")
      mkdirSync(`${folder}/files/aa`, { recursive: true })
      for (const path of ["secret.png", "files/secret.png", `files/aa/${hidden}.upload`, `files/aa/${hidden}.svg`]) {
        writeFileSync(`${folder}/${path}`, secret)
      }
      const name = new URL(url).pathname.slice("/system/".length)
      const stored = readdirSync(`${folder}/files/${name.slice(0, 2)}`)
      assert.deepStrictEqual(readFileSync(`${folder}/files/${name.slice(0, 2)}/${stored[0]}`), Buffer.from(bytes))
      const paths = [
        "../secret.png",
        "%2e%2e/secret.png",
        "..%2fsecret.png",
        "..%5csecret.png",
        "aa/../../secret.png",
        "aa/..%2f..%2fsecret.png",
        "aa/%2e%2e/secret.png",
        "secret.png",
        "/secret.png",
        "%00/secret.png",
        `aa/${hidden}.upload`,
        `aa/${hidden}.svg`,
        `aa/${hidden}.png%00.jpg`,
        `${name}/`,
        `${name}%00`,
        `./${name}`,
        `x/../${name}`,
        `${name}.part`,
        name.toUpperCase(),
        `aa/${"b".repeat(5000)}.png`,
        "..//..//..//..//etc/passwd",
        "%252e%252e/secret.png"
      ]
      for (const path of paths) {
        const { body, status } = yield* raw(`/system/${path}`)
        assert.include([400, 404, 414], status, path)
        assert.notInclude(body, secret, path)
      }
      assert.strictEqual((yield* raw(`/system/${name}?again=1`)).status, 200)
    }))

  it.effect("row 50: names have 160 random bits, and no route lists them", () =>
    Effect.gen(function*() {
      const names = new Set<string>()
      for (const person of ["eve", "fay", "gil"]) names.add(new URL((yield* published(person)).url).pathname)
      assert.strictEqual(names.size, 3)
      // 32 characters of 5 bits each.
      for (const name of names) assert.match(name, /^\/system\/([0-9a-v]{2})\/\1[0-9a-v]{30}\.png$/)
      for (const path of ["/system", "/system/", "/system/aa", "/system/aa/"]) {
        assert.strictEqual((yield* raw(path)).status, 404, path)
      }
    }))
})
