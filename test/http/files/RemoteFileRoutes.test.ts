import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { createHash, randomBytes } from "node:crypto"
import { call } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { bytesAt, picture } from "../../support/MediaFiles.ts"
import { avatarHashOf, otherServer, remotePost } from "../../support/RemotePosts.ts"
import { TestServer } from "../../support/Server.ts"

class Other extends Context.Service<Other, Effect.Success<typeof otherServer>>()("test/OtherServer") {
  static readonly layer = Layer.effect(Other, otherServer)
}

const server = (variables: Record<string, string>) => TestServer.layer(variables).pipe(Layer.provideMerge(Other.layer))

const png = (colour: string) => Effect.promise(() => picture(60, 40, colour).png().toBuffer())

/** Returns a status with a remote file as clients see it. */
const shown = Effect.fnUntraced(function*(statusId: bigint) {
  const { body } = yield* call("GET", `/api/v1/statuses/${statusId}`, undefined)
  return body
})

const Live = server({ OUTBOUND_ALLOW: "127.0.0.0/8" })

layer(Live, { excludeTestServices: true })("files of remote accounts through this server", (it) => {
  it.effect("shows files and profile pictures under keys, fetched once, with type, ranges and policy", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const other = yield* Other
      const [file, avatar] = [yield* png("#123"), yield* png("#456")]
      const url = other.put("/file.png", file, "application/octet-stream")
      const face = other.put("/face", avatar)
      const { statusId } = yield* remotePost([url], face)
      const { account, media_attachments: [media] } = yield* shown(statusId)
      assert.deepInclude(media, { remote_url: url, preview_url: media.url, type: "image" })
      assert.match(media.url, new RegExp(`^${baseUrl}/media_proxy/[0-9a-f]{40}$`))
      assert.deepStrictEqual([account.avatar_static, account.header], [account.avatar, account.avatar])
      assert.strictEqual(other.asked.length, 0)

      const { bytes, headers, status } = yield* bytesAt(media.url)
      assert.deepStrictEqual([status, headers.get("content-type")], [200, "image/png"])
      assert.isTrue(file.equals(bytes))
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      assert.include(headers.get("content-security-policy") ?? "", "default-src 'none'")
      assert.strictEqual(headers.get("cache-control"), "public, max-age=86400")
      const part = yield* bytesAt(media.url, { range: "bytes=1-3" })
      assert.deepStrictEqual([part.status, Buffer.from(part.bytes).toString()], [206, "PNG"])
      assert.strictEqual((yield* bytesAt(media.url, { "if-none-match": headers.get("etag") ?? "" })).status, 304)
      assert.isTrue(avatar.equals((yield* bytesAt(account.avatar)).bytes))
      assert.deepStrictEqual(other.asked, ["/file.png", "/face"])
      assert.typeOf(yield* avatarHashOf(statusId), "bigint")
    }))

  it.effect("F42: a picture without declared dimensions gets them when it is viewed", () =>
    Effect.gen(function*() {
      const other = yield* Other
      const sql = yield* SqlClient.SqlClient
      const metaOf = Effect.fnUntraced(function*(statusId: bigint) {
        const { media_attachments: [media] } = yield* shown(statusId)
        return { meta: media.meta, url: media.url }
      })
      const turned = yield* Effect.promise(() => picture(60, 40).jpeg().withMetadata({ orientation: 6 }).toBuffer())
      const upright = { original: { width: 40, height: 60, size: "40x60", aspect: 40 / 60 } }
      const { statusId } = yield* remotePost([other.put("/turned.jpg", turned, "image/jpeg")])
      const { meta, url } = yield* metaOf(statusId)
      assert.deepStrictEqual(meta, {})
      assert.strictEqual((yield* bytesAt(url)).status, 200)
      assert.deepStrictEqual((yield* metaOf(statusId)).meta, upright)
      // An earlier copy is also measured; a size from the origin stays.
      yield* sql`UPDATE media_attachments SET meta = '{}' WHERE status_id = ${statusId}`
      yield* bytesAt(url)
      assert.deepStrictEqual((yield* metaOf(statusId)).meta, upright)
      yield* sql`UPDATE media_attachments SET meta = '{"original":{"width":1,"height":1}}' WHERE status_id = ${statusId}`
      yield* bytesAt(url)
      const [row] = yield* sql<{ meta: unknown }>`SELECT meta FROM media_attachments WHERE status_id = ${statusId}`
      assert.deepStrictEqual(row?.meta, { original: { width: 1, height: 1 } })
      // A truncated picture is served unchanged, without a size.
      const broken = yield* remotePost([other.put("/broken.jpg", turned.subarray(0, 40), "image/jpeg")])
      assert.strictEqual((yield* bytesAt((yield* metaOf(broken.statusId)).url)).status, 200)
      assert.deepStrictEqual((yield* metaOf(broken.statusId)).meta, {})
    }))

  it.effect("concurrent viewers share one request", () =>
    Effect.gen(function*() {
      const other = yield* Other
      const bytes = yield* png("#789")
      const url = other.reply("/slow.png", (_, response) => {
        setTimeout(() => response.writeHead(200, { "content-type": "image/png" }).end(bytes), 200)
      })
      const { media_attachments: [media] } = yield* shown((yield* remotePost([url])).statusId)
      const found = yield* Effect.forEach(Array.from({ length: 20 }), () => bytesAt(media.url), {
        concurrency: "unbounded"
      })
      assert.isTrue(found.every((one) => one.status === 200 && bytes.equals(one.bytes)))
      assert.strictEqual(other.timesAsked("/slow.png"), 1)
    }))

  it.effect("row 25: serves only addresses in rows, and none of suspended accounts or deleted posts", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const other = yield* Other
      const sql = yield* SqlClient.SqlClient
      const secret = other.put("/secret.png", yield* png("#000"))
      const key = createHash("sha256").update(secret).digest("hex").slice(0, 40)
      for (const path of [key, encodeURIComponent(secret), secret, "..%2f..", `${key}/x`, "", key.toUpperCase()]) {
        assert.strictEqual((yield* bytesAt(`${baseUrl}/media_proxy/${path}`)).status, 404, path)
      }
      const { accountId, statusId } = yield* remotePost([secret], secret)
      assert.strictEqual((yield* bytesAt(`${baseUrl}/media_proxy/${key}`)).status, 200)
      yield* sql`UPDATE accounts SET avatar_remote_url = NULL, header_remote_url = NULL WHERE id = ${accountId}`
      yield* sql`UPDATE statuses SET deleted_at = ${new Date()} WHERE id = ${statusId}`
      assert.strictEqual((yield* bytesAt(`${baseUrl}/media_proxy/${key}`)).status, 404)
      yield* sql`UPDATE statuses SET deleted_at = NULL WHERE id = ${statusId}`
      yield* sql`UPDATE accounts SET suspended_at = ${new Date()} WHERE id = ${accountId}`
      assert.strictEqual((yield* bytesAt(`${baseUrl}/media_proxy/${key}`)).status, 404)
      assert.strictEqual(other.timesAsked("/secret.png"), 1)
    }))

  it.effect("rows 46 and 47: a file whose bytes are not a picture, video or sound is not shown, whatever its name", () =>
    Effect.gen(function*() {
      const other = yield* Other
      const svg = new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
      const html = new TextEncoder().encode("<!doctype html><script>alert(1)</script>")
      const lies = [
        other.put("/x.svg", svg, "image/svg+xml"),
        other.put("/x.png", svg, "image/png"),
        other.put("/y.png", html, "image/png"),
        other.put("/page", html, "text/html"),
        other.put("/empty", new Uint8Array(), "image/png"),
        `${other.baseUrl}/gone`
      ]
      for (const url of lies) {
        const { media_attachments: [media] } = yield* shown((yield* remotePost([url])).statusId)
        const { bytes, headers, status } = yield* bytesAt(media.url)
        assert.deepStrictEqual([status, headers.get("content-type")], [502, "application/json; charset=utf-8"], url)
        assert.notInclude(Buffer.from(bytes).toString(), "script")
        // Not requested again at once.
        yield* bytesAt(media.url)
        assert.strictEqual(other.timesAsked(new URL(url).pathname), 1, url)
      }
      // The file name does not matter in the other direction either.
      const { media_attachments: [odd] } = yield* shown(
        (yield* remotePost([other.put("/odd", yield* png("#fff"), "video/mp4")])).statusId
      )
      assert.strictEqual((yield* bytesAt(odd.url)).headers.get("content-type"), "image/png")
    }))

  it.effect("media refresh: existing copies are fetched again, once", () =>
    Effect.gen(function*() {
      const { variables } = yield* TestServer
      const other = yield* Other
      const [before, after] = [yield* png("#111"), yield* png("#222")]
      const url = other.put("/changing.png", before)
      const { media_attachments: [media] } = yield* shown((yield* remotePost([url])).statusId)
      const first = yield* bytesAt(media.url)
      other.put("/changing.png", after)
      assert.isTrue(before.equals((yield* bytesAt(media.url)).bytes))
      assert.strictEqual((yield* cli(["media", "refresh"], variables)).code, 0)
      const second = yield* bytesAt(media.url)
      assert.isTrue(after.equals(second.bytes))
      assert.notStrictEqual(second.headers.get("etag"), first.headers.get("etag"))
      yield* bytesAt(media.url)
      assert.strictEqual(other.timesAsked("/changing.png"), 2)
    }))
})

layer(server({}), { excludeTestServices: true })("the guard before remote files", (it) => {
  it.effect("rows 25 to 27: addresses of this machine and its network in rows are never fetched", () =>
    Effect.gen(function*() {
      const other = yield* Other
      const port = new URL(other.baseUrl).port
      other.put("/inside.png", yield* png("#000"))
      const hosts = [
        `http://127.0.0.1:${port}`,
        `https://127.0.0.1:${port}`,
        `http://localhost:${port}`,
        "http://[::1]"
      ]
      for (const host of [...hosts, "http://169.254.169.254", "file://", "ftp://else.test"]) {
        const { media_attachments: [media] } = yield* shown((yield* remotePost([`${host}/inside.png`])).statusId)
        assert.strictEqual((yield* bytesAt(media.url)).status, 502, host)
      }
      assert.deepStrictEqual(other.asked, [])
    }))
})

layer(server({ OUTBOUND_ALLOW: "127.0.0.0/8", RATE_LIMITS: "on" }), { excludeTestServices: true })(
  "the limit of remote files",
  (it) => {
    it.effect(
      "300 are fetched per address in ten minutes; existing copies are free",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const other = yield* Other
          const bytes = yield* png("#345")
          const urls = Array.from({ length: 301 }, (_, index) => other.put(`/many/${index}.png`, bytes))
          yield* remotePost(urls)
          const at = (url: string) =>
            bytesAt(`${baseUrl}/media_proxy/${createHash("sha256").update(url).digest("hex").slice(0, 40)}`)
          const first = yield* Effect.forEach(urls.slice(0, 300), at, { concurrency: 6 })
          assert.isTrue(first.every(({ status }) => status === 200))
          const last = yield* at(urls[300]!)
          assert.deepStrictEqual([last.status, last.headers.get("x-ratelimit-limit")], [429, "300"])
          assert.strictEqual((yield* at(urls[0]!)).status, 200)
          assert.lengthOf(other.asked, 300)
        })
    )
  }
)

layer(server({ MEDIA_CACHE_BYTES: "0" }), { excludeTestServices: true })("remote files without copies", (it) => {
  it.effect("are linked directly, also on pages, and nothing is fetched for others", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson, fetch } = yield* TestServer
      const other = yield* Other
      const url = "https://files.else.test/a.png"
      const { accountId, statusId } = yield* remotePost([url], "https://files.else.test/face.png")
      const { account, media_attachments: [media] } = yield* shown(statusId)
      assert.deepStrictEqual([media.url, media.preview_url, media.remote_url], [url, url, url])
      assert.strictEqual(account.avatar, "https://files.else.test/face.png")
      const key = createHash("sha256").update(url).digest("hex").slice(0, 40)
      assert.strictEqual((yield* bytesAt(`${baseUrl}/media_proxy/${key}`)).status, 404)
      yield* createPerson("ada")
      const page = yield* fetch("/@ada")
      assert.include(page.headers.get("content-security-policy") ?? "", "img-src 'self' https: data:;")
      assert.deepStrictEqual(other.asked, [])
      assert.isDefined(accountId)
    }))
})

layer(server({ OUTBOUND_ALLOW: "127.0.0.0/8", MEDIA_CACHE_BYTES: "100000" }), { excludeTestServices: true })(
  "a small cache for copies",
  (it) => {
    it.effect("a file larger than the cache is not stored, and is not requested again for a while", () =>
      Effect.gen(function*() {
        const other = yield* Other
        const large = Buffer.concat([yield* png("#abc"), randomBytes(200_000)])
        const { media_attachments: [media] } = yield* shown(
          (yield* remotePost([other.put("/large.png", large)])).statusId
        )
        assert.strictEqual((yield* bytesAt(media.url)).status, 502)
        assert.strictEqual((yield* bytesAt(media.url)).status, 502)
        assert.strictEqual(other.timesAsked("/large.png"), 1)
      }))
  }
)
