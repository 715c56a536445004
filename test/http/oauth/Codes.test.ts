import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { Apps } from "../../../src/services/oauth/Apps.ts"
import { problem } from "../../../src/services/oauth/RedirectUris.ts"

import { get } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"
import { challenge, codeFor, exchange, invalidGrant, verifier } from "./Allowing.ts"

layer(server(), { excludeTestServices: true })("row 71", (it) => {
  it.effect("40 cases: an address must equal one that the app registered, except for the case of its host", () =>
    Effect.gen(function*() {
      const registered = [
        "https://app.example/back",
        "https://app.example/cb?x=1",
        "myapp://done",
        "http://localhost:8080/"
      ]
      const { app } = yield* (yield* Apps).register({
        name: "Table",
        redirectUris: registered,
        scopes: ["read"],
        website: undefined
      })
      const table: ReadonlyArray<[uri: string, good: boolean]> = [
        ...registered.map((uri): [string, boolean] => [uri, true]),
        ["https://app.example/back/", false],
        ["https://app.example/back?x=1", false],
        ["https://app.example/back#x", false],
        ["https://app.example/back%2f", false],
        ["https://app.example/back/..", false],
        ["https://app.example/./back", false],
        ["https://app.example//back", false],
        ["https://app.example/Back", false],
        ["https://APP.example/back", true],
        ["HTTPS://app.example/back", false],
        ["http://app.example/back", false],
        ["https://app.example:443/back", false],
        ["https://app.example:8443/back", false],
        ["https://app.example./back", false],
        ["https://app.example.evil.test/back", false],
        ["https://evil.test/https://app.example/back", false],
        ["https://evil.test#https://app.example/back", false],
        ["https://app.example@evil.test/back", false],
        ["https://user@app.example/back", false],
        ["https://evil.test\\@app.example/back", false],
        ["https://app.example\\back", false],
        ["//app.example/back", false],
        ["/back", false],
        ["app.example/back", false],
        ["https:app.example/back", false],
        ["https://app.example/cb", false],
        ["https://app.example/cb?x=2", false],
        ["https://app.example/cb?x=1&y=2", false],
        ["https://app.example/cb?X=1", false],
        ["myapp://done/", false],
        ["myapp://done/x", false],
        ["MYAPP://done", false],
        ["myapp2://done", false],
        ["http://localhost:8081/", false],
        ["http://127.0.0.1:8080/", false],
        ["http://[::1]:8080/", false],
        [" https://app.example/back", false],
        ["https://app.example/back ", false],
        ["https://app.example/back\r\nSet-Cookie: x=1", false],
        ["javascript:alert(1)", false],
        ["data:text/html,x", false],
        ["urn:ietf:wg:oauth:2.0:oob", false],
        ["*", false],
        ["https://app.example/*", false]
      ]
      assert.isAtLeast(table.length, 40)
      for (const [uri, good] of table) {
        const query = new URLSearchParams({ response_type: "code", client_id: app.clientId, redirect_uri: uri })
        const response = yield* get(`/oauth/authorize?${query}`)
        assert.strictEqual(response.status, good ? 302 : 400, uri)
        if (good) assert.strictEqual(locationOf(response).pathname, "/auth/sign_in")
        else assert.include(response.text, "The redirect uri included is not valid.", uri)
      }
    }))

  it.each([
    ["javascript:alert(1)", "is forbidden by the server."],
    ["JaVaScRiPt://app.example/%0aalert(1)", "is forbidden by the server."],
    ["data:text/html,x", "is forbidden by the server."],
    ["vbscript:x", "is forbidden by the server."],
    ["https://app.example/#x", "cannot contain a fragment."],
    ["/back", "must be an absolute URI."],
    ["app.example", "must be an absolute URI."],
    ["https://", "must be a valid URI."],
    // F75: text that would end a directive of the pages' policy.
    ["https://a;b.example/", "must be a valid URI."],
    ["https://a,b.example/", "must be a valid URI."],
    ["java\nscript:alert(1)", "must be a valid URI."],
    ["https://äpp.example/", "must be a valid URI."],
    ["https://app.example/", undefined],
    ["http://localhost/", undefined],
    ["myapp://x", undefined],
    ["com.example.app:/oauth", undefined],
    ["urn:ietf:wg:oauth:2.0:oob", undefined]
  ])("an app that registers %j is told: %s", (uri, expected) => assert.strictEqual(problem(uri), expected))

  it.effect("a code is bound to client, address and PKCE, and a verifier without a challenge is a downgrade", () =>
    Effect.gen(function*() {
      yield* user("dora")
      const [app, other] = [yield* client("read"), yield* client("read")]
      const pkce = { code_challenge: challenge, code_challenge_method: "S256" }
      const refused: ReadonlyArray<[Record<string, string>, Record<string, string>]> = [
        [{}, { redirect_uri: "https://app.example/back/" }],
        [{}, { ...other.credentials }],
        [{}, { code: "nonsense" }],
        [{}, { code_verifier: verifier }],
        [pkce, {}],
        [pkce, { code_verifier: "" }],
        [pkce, { code_verifier: `${verifier}x` }],
        [pkce, { code_verifier: challenge }],
        [pkce, { code_verifier: "short" }]
      ]
      for (const [asked, brought] of refused) {
        const response = yield* exchange(app, yield* codeFor(app, "dora", asked), brought)
        assert.strictEqual(response.status, 400, JSON.stringify([asked, brought]))
        assert.deepStrictEqual(response.body, invalidGrant)
      }
      const missing = yield* exchange(app, "x", { redirect_uri: "" })
      assert.deepStrictEqual(missing.body, {
        error: "invalid_request",
        error_description: "Missing required parameter: redirect_uri."
      })
    }))

  it.effect("a reused code revokes its token", () =>
    Effect.gen(function*() {
      yield* user("emil")
      const app = yield* client("read")
      const code = yield* codeFor(app, "emil")
      const { body: token } = yield* exchange(app, code)
      assert.strictEqual((yield* get("/oauth/token/info", token.access_token)).status, 200)
      assert.deepStrictEqual((yield* exchange(app, code)).body, invalidGrant)
      const after = yield* get("/oauth/token/info", token.access_token)
      assert.deepStrictEqual([after.status, after.body.error], [401, "The access token was revoked"])
    }))

  it.effect("50 concurrent exchanges issue one token", () =>
    Effect.gen(function*() {
      yield* user("fritz")
      // The first rounds open the database connections that the later ones need to run concurrently.
      for (const _ of Array.from({ length: 4 })) {
        const app = yield* client("read")
        const code = yield* codeFor(app, "fritz")
        const responses = yield* Effect.all(Array.from({ length: 50 }, () => exchange(app, code)), { concurrency: 50 })
        const granted = responses.filter(({ status }) => status === 200)
        assert.strictEqual(granted.length, 1)
        assert.strictEqual(new Set(responses.map(({ body }) => body.access_token)).size, 2)
        assert.strictEqual((yield* get("/oauth/token/info", granted[0]?.body.access_token)).status, 401)
      }
    }))
})
