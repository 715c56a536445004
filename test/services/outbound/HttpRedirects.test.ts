import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { activity } from "../../../src/services/outbound/DocumentTypes.ts"
import { redirectsMax } from "../../../src/services/outbound/HttpRedirects.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { certificate } from "./certificate.ts"
import { getJson, host, outbound, secureHost, sendJson } from "./FarHosts.ts"

const rule = (url: string) =>
  Effect.map(Effect.flip(getJson(url)), (error) => error._tag === "Refused" ? error.rule : error)

/** Starts a host with redirects by path according to `to`; other paths return a document. */
const moving = (to: (path: string) => string | undefined, status = 302) =>
  host((request, response) => {
    const location = to(request.url ?? "")
    if (location === undefined) sendJson(response, { path: request.url })
    else response.writeHead(status, { location }).end()
  })

describe("row 27: redirects", () => {
  it.effect("are followed manually, at most three, each as a new request", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* moving((path) => {
        const left = Number(path.slice(1))
        return left > 0 ? `/${left - 1}` : undefined
      })
      assert.deepStrictEqual(yield* getJson(`${url}/${redirectsMax}`), { url: `${url}/0`, value: { path: "/0" } })
      assert.deepStrictEqual(requests.map((request) => request.url), ["/3", "/2", "/1", "/0"])
      assert.strictEqual(yield* rule(`${url}/${redirectsMax + 1}`), "redirects")
      assert.strictEqual(requests.length, 8)
    }).pipe(Effect.provide(outbound())))

  for (
    const [location, expected] of [
      ["https://127.0.0.2/", "address"],
      ["https://[::1]/", "address"],
      ["https://10.0.0.1/", "address"],
      ["https://169.254.169.254/latest/meta-data/", "address"],
      ["https://inside.test/", "address"],
      ["http://10.0.0.1/", "scheme"],
      ["file:///etc/passwd", "scheme"],
      ["data:application/activity+json,{}", "scheme"],
      ["gopher://127.0.0.1/", "scheme"],
      ["https://user@127.0.0.1/", "userinfo"],
      ["https://127.0.0.1:22/", "port"],
      ["https://", "host"]
    ] as const
  ) {
    it.effect(`to ${location} are refused`, () =>
      Effect.gen(function*() {
        const { url } = yield* moving(() => location)
        assert.strictEqual(yield* rule(`${url}/`), expected)
      }).pipe(
        Effect.provide(outbound({ allow: ["127.0.0.1/32"], names: () => ["192.168.1.1", "::1", "fd00::1"] }))
      ))
  }

  it.effect("never leave TLS", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* moving(() => undefined)
      const { port } = yield* secureHost((_, response) => response.writeHead(301, { location: `${url}/` }).end())
      assert.strictEqual(yield* rule(`https://peer.test:${port}/`), "redirect")
      assert.strictEqual(requests.length, 0)
    }).pipe(Effect.provide(outbound({ names: () => ["127.0.0.1"], trust: { authorities: certificate } }))))

  it.effect("do not keep a signature: each address is signed for separately", () =>
    Effect.gen(function*() {
      const there = yield* moving(() => undefined)
      const here = yield* moving(() => `${there.url}/moved`)
      yield* Outbound.use(({ json }) =>
        json({
          url: `${here.url}/first`,
          type: activity,
          sign: (url) => Effect.succeed({ signature: `for ${url.href}` })
        })
      )
      assert.deepStrictEqual(
        [...here.requests, ...there.requests].map(({ headers }) => headers["signature"]),
        [`for ${here.url}/first`, `for ${there.url}/moved`]
      )
    }).pipe(Effect.provide(outbound())))

  for (const status of [301, 302, 303, 307, 308]) {
    it.effect(`of a POST are reported (${status}), not followed`, () =>
      Effect.gen(function*() {
        const { requests, url } = yield* moving((path) => path === "/inbox" ? "/other" : undefined, status)
        const reply = yield* Outbound.use(({ post }) =>
          post({ url: `${url}/inbox`, headers: {}, body: new TextEncoder().encode("{}") })
        )
        assert.strictEqual(reply.status, status)
        assert.deepStrictEqual(requests.map((request) => request.url), ["/inbox"])
      }).pipe(Effect.provide(outbound())))
  }
})

describe("row 28: redirect loops", () => {
  it.effect("to itself end at the second request", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* moving((path) => path)
      assert.strictEqual(yield* rule(`${url}/`), "redirects")
      assert.strictEqual(requests.length, 1)
    }).pipe(Effect.provide(outbound())))

  it.effect("by two, and endless ones, are given up", () =>
    Effect.gen(function*() {
      const circle = yield* moving((path) => path === "/a" ? "/b" : "/a")
      assert.strictEqual(yield* rule(`${circle.url}/a`), "redirects")
      assert.strictEqual(circle.requests.length, 2)
      const endless = yield* moving((path) => `${path}1`)
      assert.strictEqual(yield* rule(`${endless.url}/`), "redirects")
      assert.strictEqual(endless.requests.length, redirectsMax + 1)
    }).pipe(Effect.provide(outbound())))

  it.effect("without a target are refused", () =>
    Effect.gen(function*() {
      const { url } = yield* host((_, response) => response.writeHead(302).end())
      assert.strictEqual(yield* rule(`${url}/`), "redirect")
    }).pipe(Effect.provide(outbound())))
})

describe("row 25: TLS", () => {
  it.effect("is verified: the authority and the name", () =>
    Effect.gen(function*() {
      const { port } = yield* secureHost((_, response) => sendJson(response, {}))
      const reason = (name: string) => Effect.map(Effect.flip(getJson(`https://${name}:${port}/`)), (error) => error)
      assert.deepInclude(yield* reason("other.test"), { _tag: "Unreachable", reason: "tls" })
      assert.deepStrictEqual((yield* getJson(`https://peer.test:${port}/`)).value, {})
    }).pipe(Effect.provide(outbound({ names: () => ["127.0.0.1"], trust: { authorities: certificate } }))))

  it.effect("without a known authority is refused", () =>
    Effect.gen(function*() {
      const { port } = yield* secureHost((_, response) => sendJson(response, {}))
      assert.deepInclude(yield* Effect.flip(getJson(`https://peer.test:${port}/`)), { reason: "tls" })
    }).pipe(Effect.provide(outbound({ names: () => ["127.0.0.1"] }))))
})
