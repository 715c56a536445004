import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Api } from "../../../src/http/Api.ts"
import { Guard } from "../../../src/http/guard/Guard.ts"
import { Limits, limits } from "../../../src/http/guard/Limits.ts"
import * as PathLimits from "../../../src/http/guard/PathLimits.ts"
import { limitOf } from "../../../src/http/guard/PathLimits.ts"
import { Sessions } from "../../../src/services/identity/Sessions.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { configuration } from "../../support/Reads.ts"
import { send } from "../../support/Requests.ts"
import { sourcesIn } from "../../support/source.ts"

describe("every route has a limit", () => {
  it("F18: the guard's applies to every endpoint of the API", () => {
    const open = Object.values(Api.groups).flatMap((group) =>
      Object.values(group.endpoints).flatMap((endpoint) =>
        endpoint.middlewares.has(Guard) || limitOf(endpoint.path) !== undefined ? [] : [endpoint.path]
      )
    )
    assert.deepStrictEqual(open, [])
  })

  it("F18: that of the client's address applies to every other route, and to missing paths", () => {
    const paths = [
      "/",
      "/about",
      "/@ada",
      "/@ada/1",
      "/@ada/tagged/x",
      "/tags/x",
      "/auth/sign_in",
      "/auth/password",
      "/auth/nothing",
      "/oauth/authorize",
      "/oauth/authorize/native",
      "/oauth/authorized_applications/1",
      "/oauth/applications/1",
      "/.well-known/webfinger",
      "/.well-known/nodeinfo",
      "/nodeinfo/2.1",
      "/.well-known/host-meta",
      "/health",
      "/metrics",
      "/users/ada",
      "/users/ada/inbox",
      "/users/ada/outbox",
      "/inbox",
      "/actor",
      "/actor/inbox",
      "/emojis/1",
      "/system/a.png",
      "/media_proxy/a",
      "/assets/pages.css",
      "/avatars/original/missing.png",
      "/api/docs",
      "/api/openapi.json",
      "/api/v1/streaming",
      "/api/v1/streaming/user",
      "/nothing",
      "",
      "*"
    ]
    assert.deepStrictEqual(paths.filter((path) => limitOf(path) === undefined), [])
    assert.strictEqual(limitOf("/api/v1/statuses"), undefined)
    // Limited for servers, not for readers.
    assert.strictEqual(limitOf("/ap/users/1/feature_authorizations/2"), "federationAddress")
  })

  it("F18: no route is added outside the guard", () => {
    const added = sourcesIn("src").flatMap(({ text }) =>
      Array.from(text.matchAll(/HttpRouter\.add\(\s*"[A-Z*]+",\s*"([^"]+)"/g), ([, route = ""]) => route)
    )
    assert.isAbove(added.length, 10)
    assert.deepStrictEqual(added.filter((route) => limitOf(route) === undefined), [])
  })
})

const Live = HttpRouter.serve(
  Layer.mergeAll(
    HttpRouter.add("GET", "/api/v1/there", Effect.succeed(HttpServerResponse.text("there"))),
    PathLimits.layer
  ),
  { disableLogger: true, disableListenLog: true }
).pipe(
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provide([
    Layer.succeed(ServerConfig, { ...configuration, rateLimits: true }),
    Limits.layerMemory,
    Layer.mock(Sessions, {})
  ])
)

layer(Live, { excludeTestServices: true })("missing paths of the API", (it) => {
  it.effect("F106: have a limit of their address, and use none of an endpoint's", () =>
    Effect.gen(function*() {
      const statusOf = (path: string) => Effect.map(send(path), ({ status }) => status)
      const many = Array.from({ length: limits.documentAddress.uses }, (_, at) => `/api/v1/nothing/${at}`)
      const first = new Set(yield* Effect.forEach(many, statusOf, { concurrency: 20 }))
      assert.deepStrictEqual([...first], [404])
      // The limit grows again while a slow machine sends.
      for (const path of ["/api/v1/nothing", "/oauth/token/nothing"]) {
        const more = Array.from({ length: many.length / 10 }, () => path)
        assert.include(yield* Effect.forEach(more, statusOf, { concurrency: 20 }), 429)
      }
      assert.strictEqual(yield* statusOf("/api/v1/there"), 200)
    }))
})
