import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { get } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const embedding = (url: string, more = "") => get(`/api/oembed?url=${encodeURIComponent(url)}${more}`)

layer(server(), { excludeTestServices: true })("posts on other sites", (it) => {
  it.effect("GET /api/oembed: a frame with a page that other sites may show, named on the page of the post", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain, publicUrl } = yield* ServerConfig
      const anna = yield* person("anna")
      yield* sql`UPDATE accounts SET display_name = 'Anna "<b>' WHERE id = ${anna}`
      const id = yield* status(anna, "to be shown elsewhere")
      const url = `${publicUrl}/@anna/${id}`
      const { body, headers, status: found } = yield* embedding(url)
      assert.strictEqual(found, 200)
      assert.match(headers.get("content-type") ?? "", /^application\/json/)
      const { html, ...rest } = body
      assert.deepStrictEqual(rest, {
        type: "rich",
        version: "1.0",
        author_name: "Anna \"<b>",
        author_url: `${publicUrl}/@anna`,
        provider_name: localDomain,
        provider_url: `${publicUrl}/`,
        cache_age: 86_400,
        width: 400,
        height: null
      })
      assert.match(html, new RegExp(`^<iframe [^<>]*src="${url}/embed"[^<>]*></iframe>$`))
      const sized = (more: string) => Effect.map(embedding(url, more), ({ body }) => [body.width, body.height])
      assert.deepStrictEqual(yield* sized("&maxwidth=300&maxheight=200&format=json"), [300, 200])
      assert.deepStrictEqual(yield* sized("&maxwidth=-1&maxheight=x"), [400, null])
      assert.deepStrictEqual(yield* sized("&maxwidth=99999999999&maxheight=0"), [4_096, null])
      // The id of the note refers to the same post.
      assert.strictEqual((yield* embedding(`${publicUrl}/users/Anna/statuses/${id}`)).status, 200)

      const page = yield* get(`/@anna/${id}`)
      const [, named = ""] = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)">/.exec(page.text) ??
        []
      const discovered = yield* get(named.replaceAll("&amp;", "&").replace(publicUrl, ""))
      assert.deepStrictEqual(discovered.body, body)
      assert.strictEqual(page.headers.get("x-frame-options"), "DENY")

      const frame = yield* get(`/@anna/${id}/embed`)
      assert.strictEqual(frame.status, 200)
      assert.include(frame.text, "to be shown elsewhere")
      assert.include(frame.headers.get("content-security-policy") ?? "", "frame-ancestors *;")
      assert.isNull(frame.headers.get("x-frame-options"))
      assert.notInclude(frame.text, "<script")
    }))

  it.effect("row 55: non-public posts are not embedded, nor are boosts, others' addresses and wrong names", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { publicUrl } = yield* ServerConfig
      const ben = yield* person("ben")
      yield* person("cora")
      const open = yield* status(ben, "open", { visibility: "unlisted" })
      const deleted = yield* status(ben, "deleted")
      yield* sql`UPDATE statuses SET deleted_at = ${new Date(yield* Clock.currentTimeMillis)} WHERE id = ${deleted}`
      const closed = [
        yield* status(ben, "private", { visibility: "private" }),
        yield* status(ben, "direct", { visibility: "direct" }),
        yield* status(ben, "", { reblogOf: open }),
        deleted,
        1n
      ]
      // The link to the sign-in leads back to the page.
      const shown = (text: string) => text.replace(/return_to=[^"]*/, "")
      const missing = yield* get("/@nobody/1/embed")
      for (const id of closed) {
        const response = yield* embedding(`${publicUrl}/@ben/${id}`)
        assert.deepStrictEqual([response.status, response.text], [404, `{"error":"Record not found"}`], String(id))
        const frame = yield* get(`/@ben/${id}/embed`)
        assert.deepStrictEqual([frame.status, shown(frame.text)], [404, shown(missing.text)], String(id))
      }
      const other = [
        `https://elsewhere.example/@ben/${open}`,
        `${publicUrl}/@cora/${open}`,
        `${publicUrl}/@ben`,
        "",
        "x",
        `${publicUrl}/@ben/99999999999999999999`,
        `${publicUrl}/@ben/${open}`.padEnd(20_000, "/")
      ]
      for (const url of other) assert.oneOf((yield* embedding(url)).status, [404, 431], url.slice(0, 80))
      assert.strictEqual((yield* embedding(`${publicUrl}/@ben/${open}`)).status, 200)
      assert.strictEqual((yield* get("/api/oembed")).status, 404)
      const bearer = yield* issueToken(ben)
      const asAuthor = yield* get(`/api/oembed?url=${encodeURIComponent(`${publicUrl}/@ben/${closed[0]}`)}`, bearer)
      assert.strictEqual(asAuthor.status, 404)
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${ben}`
      assert.strictEqual((yield* embedding(`${publicUrl}/@ben/${open}`)).status, 404)
      assert.strictEqual((yield* get(`/@ben/${open}/embed`)).status, 404)
    }))
})

layer(server({ limitedFederation: true }), { excludeTestServices: true })("posts on other sites, restricted", (it) => {
  it.effect("row 68: the frame is closed to visitors, like every page", () =>
    Effect.gen(function*() {
      const dora = yield* person("dora")
      const id = yield* status(dora, "inner thoughts")
      const frame = yield* get(`/@dora/${id}/embed`)
      assert.strictEqual(frame.status, 401)
      assert.notInclude(frame.text, "inner thoughts")
    }))
})
