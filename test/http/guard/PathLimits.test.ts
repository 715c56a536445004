import { assert, describe, it } from "@effect/vitest"
import { Api } from "../../../src/http/Api.ts"
import { Guard } from "../../../src/http/guard/Guard.ts"
import { limitOf } from "../../../src/http/guard/PathLimits.ts"
import { sourcesIn } from "../../support/source.ts"

describe("every route has a limit", () => {
  it("F18: the guard's is on every endpoint of the API", () => {
    const open = Object.values(Api.groups).flatMap((group) =>
      Object.values(group.endpoints).flatMap((endpoint) =>
        endpoint.middlewares.has(Guard) || limitOf(endpoint.path) !== undefined ? [] : [endpoint.path]
      )
    )
    assert.deepStrictEqual(open, [])
  })

  it("F18: that of its address is on every other route, and on paths that are not there", () => {
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
