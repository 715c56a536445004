import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { sendJson } from "../../services/outbound/FarHosts.ts"
import { json, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { resolved, respond, serve, timesAsked } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const page = (head: string) =>
  `<!doctype html><html><head><title>x</title>${head}</head><body><p>A post</p></body></html>`
const html = (path: string, body: string, headers: Record<string, string> = {}) =>
  respond(path, (_, response) => response.writeHead(200, { "content-type": "text/html", ...headers }).end(body))
const link = (href: unknown, type = "application/activity+json") =>
  `<link rel="alternate" type="${type}" href="${String(href)}">`

layer(servers, { excludeTestServices: true })("search with resolve, posts", (it) => {
  it.effect("S-150: finds a post by its id, by a link element, by a Link header and by the response of a page", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const names = ["id", "page", "header", "negotiated", "profile"]
      const posts = names.map((name) => note(zoe, name))
      yield* serve(...posts)
      const [byId = "", byPage = "", byHeader = "", byNegotiation = "", byProfile = ""] = posts.map(({ id }) =>
        String(id)
      )
      assert.deepStrictEqual(yield* resolved(anna.token, byId), [byId])
      const profile = "application/ld+json; profile=&quot;https://www.w3.org/ns/activitystreams&quot;"
      const pages: ReadonlyArray<readonly [string, unknown]> = [
        [yield* html("/@zoe/page", page(`${link("/rss", "application/rss+xml")}${link(byPage)}`)), byPage],
        [
          yield* html("/@zoe/header", page(link(byPage)), {
            link: `</x>; rel="lrdd", <${new URL(byHeader).pathname}>; rel="alternate"; type="application/activity+json"`
          }),
          byHeader
        ],
        [
          yield* respond(
            "/@zoe/negotiated",
            ({ headers }, response) =>
              headers.accept?.startsWith("application/activity+json")
                ? response.writeHead(302, { location: byNegotiation }).end()
                : response.writeHead(406).end()
          ),
          byNegotiation
        ],
        [yield* html("/@zoe/profile", page(link(byProfile, profile))), byProfile]
      ]
      for (const [address, expected] of pages) {
        assert.deepStrictEqual<unknown>(yield* resolved(anna.token, address), [expected], address)
      }
      // The author's document names the post's page, which is found afterwards without a request.
      const shown = note(zoe, "shown", { url: yield* html("/@zoe/shown", page("")) })
      yield* serve(shown)
      assert.isEmpty(yield* resolved(anna.token, shown["url"]))
      assert.deepStrictEqual<unknown>(yield* resolved(anna.token, shown["id"]), [shown["id"]])
      const before = yield* timesAsked(shown["url"])
      assert.deepStrictEqual<unknown>(yield* resolved(anna.token, shown["url"]), [shown["id"]])
      assert.strictEqual(yield* timesAsked(shown["url"]), before)
    }))

  it.effect("rows 1, 5: an object found through a page is checked like any other", () =>
    Effect.gen(function*() {
      const [ben, yan] = [yield* newPerson("ben"), yield* there("yan")]
      const { url } = yield* OtherServer
      const forged = { ...note(yan, "forged"), id: "https://victim.test/1", attributedTo: "https://victim.test/v" }
      const serveDocument = (path: string, type: string, document: unknown) =>
        respond(path, (_, response) => response.writeHead(200, { "content-type": type }).end(JSON.stringify(document)))
      const context = { "@context": "https://www.w3.org/ns/activitystreams" }
      const attempts = [
        yield* html(
          "/evil/1",
          page(link(yield* serveDocument("/forged", "application/activity+json", { ...context, ...forged })))
        ),
        yield* html("/evil/2", page(link("javascript:alert(1)"))),
        yield* html("/evil/3", page(link("http://10.0.0.1/x"))),
        // An upload on an honest server that looks like a post.
        ...(yield* Effect.forEach(
          ["application/json", "text/plain", "image/png", "application/octet-stream"],
          (type, n) =>
            serveDocument(`/upload/${n}`, type, { ...context, ...note(yan, "upload"), id: `${url}/upload/${n}` })
        ))
      ]
      for (const attempt of attempts) assert.isEmpty(yield* resolved(ben.token, attempt), attempt)
    }))

  it.effect("row 28: pages and moves that lead to each other end after few requests", () =>
    Effect.gen(function*() {
      const [cleo] = [yield* newPerson("cleo")]
      const { requests, url } = yield* OtherServer
      const moved = (path: string, location: string) =>
        respond(path, (_, response) => response.writeHead(302, { location }).end())
      // A page that names itself, two that name each other, and endless pages and moves.
      yield* html("/loop/self", page(link("/loop/self")))
      yield* html("/loop/a", page(""), { link: "</loop/b>; rel=\"alternate\"; type=\"application/activity+json\"" })
      yield* html("/loop/b", page(link("/loop/a")))
      yield* moved("/loop/1", "/loop/2")
      yield* moved("/loop/2", "/loop/3")
      yield* html("/loop/3", page(link("/loop/4")))
      yield* moved("/loop/4", "/loop/5")
      yield* moved("/loop/5", "/loop/6")
      yield* moved("/loop/6", "/loop/7")
      for (const [start, most] of [["self", 1], ["a", 2], ["1", 6]] as const) {
        const before = requests.length
        assert.isEmpty(yield* resolved(cleo.token, `${url}/loop/${start}`), start)
        assert.isAtMost(requests.length - before, most, start)
      }
      assert.strictEqual(yield* timesAsked(`${url}/loop/6`), 1)
      assert.strictEqual(yield* timesAsked(`${url}/loop/7`), 0)
    }))

  it.effect("row 79: a fetched object is stored under its id, not its address", () =>
    Effect.gen(function*() {
      const [fritz, wim] = [yield* newPerson("fritz"), yield* there("wim")]
      const post = note(wim, "kept")
      yield* serve(post)
      const moved = yield* respond("/@wim/kept", (_, response) =>
        response.writeHead(301, { location: String(post["id"]) }).end())
      assert.deepStrictEqual<unknown>(yield* resolved(fritz.token, moved), [post["id"]])
      // The address may lead elsewhere later, and the post does not change.
      const other = note(wim, "other")
      yield* serve(other)
      yield* respond("/@wim/kept", (_, response) =>
        response.writeHead(301, { location: String(other["id"]) }).end())
      assert.deepStrictEqual<unknown>(yield* resolved(fritz.token, moved), [other["id"]])
      assert.deepStrictEqual<unknown>(yield* resolved(fritz.token, post["id"]), [post["id"]])
      // An object with another id is fetched from that id, and the copy is not trusted.
      const [real, forged] = [note(wim, "real"), { ...note(wim, "real"), content: "<p>forged</p>" }]
      yield* serve(real)
      const poison = yield* respond("/@wim/poison", (_, response) =>
        sendJson(response, { "@context": "https://www.w3.org/ns/activitystreams", ...forged }))
      const { statuses: [status] } = yield* json(
        fritz,
        `/api/v2/search?resolve=true&q=${encodeURIComponent(poison)}`
      )
      assert.deepInclude(status, { uri: real["id"], content: "<p>real</p>" })
    }))

  it.effect("row 10: a post deleted by its author during the fetch is not stored", () =>
    Effect.gen(function*() {
      const [gerd, vic] = [yield* newPerson("gerd"), yield* there("vic")]
      const post = note(vic, "crossed")
      const asked = yield* Deferred.make<Effect.Effect<void>>()
      yield* respond(new URL(String(post["id"])).pathname, (_, response) => {
        Effect.runSync(Deferred.succeed(
          asked,
          Effect.sync(() => sendJson(response, { "@context": "https://www.w3.org/ns/activitystreams", ...post }))
        ))
      })
      const search = yield* Effect.forkChild(resolved(gerd.token, post["id"]), { startImmediately: true })
      const go = yield* Deferred.await(asked)
      assert.strictEqual(yield* deliverFrom(vic, { type: "Delete", object: post["id"] }), "done")
      yield* go
      assert.isEmpty(yield* Fiber.join(search))
      yield* serve(post)
      assert.isEmpty(yield* resolved(gerd.token, post["id"]))
    }))

  it.effect("row 56: a fetched post with a restricted audience is shown to that audience", () =>
    Effect.gen(function*() {
      const [dora, emil, xena] = [yield* newPerson("dora"), yield* newPerson("emil"), yield* there("xena")]
      const { baseUrl } = yield* TestServer
      const me = `${baseUrl}/users/dora`
      const secret = note(xena, "secret", { to: [me], cc: [], tag: [{ type: "Mention", href: me }] })
      yield* serve(secret)
      assert.isEmpty(yield* resolved(emil.token, secret["id"]))
      assert.deepStrictEqual<unknown>(yield* resolved(dora.token, secret["id"]), [secret["id"]])
      assert.isEmpty(yield* resolved(emil.token, secret["id"]))
    }))
})
