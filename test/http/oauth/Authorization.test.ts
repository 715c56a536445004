import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Apps } from "../../../src/services/oauth/Apps.ts"
import { problem } from "../../../src/services/oauth/RedirectUris.ts"
import { client, get, post, server, user } from "../../support/SignInServer.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"

const verifier = "a".repeat(20) + "-._~" + "Z".repeat(30)
const challenge = createHash("sha256").update(verifier).digest("base64url")

type Client = Effect.Success<ReturnType<typeof client>>

const authorizeUrl = (app: Client, more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    ...more
  })}`

/** Signs a user in and allows the app; the code that the app gets. */
const codeFor = Effect.fnUntraced(function*(app: Client, username: string, more: Record<string, string> = {}) {
  const browser = TestBrowser.make()
  yield* browser.signIn(username)
  const answer = yield* browser.submit(yield* browser.get(authorizeUrl(app, more)))
  assert.strictEqual(answer.status, 302)
  return locationOf(answer).searchParams.get("code") ?? ""
})

const exchange = (app: Client, code: string, more: Record<string, string> = {}) =>
  post("/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri: app.redirectUri,
    ...app.credentials,
    ...more
  })

const invalidGrant = {
  error: "invalid_grant",
  error_description:
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
}

layer(server(), { excludeTestServices: true })("authorization", (it) => {
  it.effect("S-242 S-254 a user signs in, allows an app, and the app gets a token of unlimited life", () =>
    Effect.gen(function*() {
      yield* user("alice")
      const app = yield* client("read write")
      const browser = TestBrowser.make()
      const asked = authorizeUrl(app, {
        scope: "read",
        state: "a b&c",
        code_challenge: challenge,
        code_challenge_method: "S256"
      })

      const first = yield* browser.get(asked)
      assert.strictEqual(first.status, 302)
      assert.strictEqual(locationOf(first).pathname, "/auth/sign_in")
      const back = yield* browser.signIn("alice", yield* browser.get(first.headers.get("location") ?? ""))
      assert.strictEqual(back.headers.get("location"), asked)
      const consent = yield* browser.get(asked)
      assert.include(consent.text, "Test app")
      assert.include(consent.text, "@alice@local.example")

      const allowed = locationOf(yield* browser.submit(consent))
      assert.strictEqual(allowed.origin + allowed.pathname, app.redirectUri)
      assert.strictEqual(allowed.searchParams.get("state"), "a b&c")
      const token = yield* exchange(app, allowed.searchParams.get("code") ?? "", { code_verifier: verifier })
      assert.strictEqual(token.status, 200)
      assert.hasAllKeys(token.body, ["access_token", "token_type", "scope", "created_at"])
      assert.deepInclude(token.body, { token_type: "Bearer", scope: "read" })
      assert.include(token.headers.get("cache-control") ?? "", "no-store")
      assert.strictEqual((yield* get("/api/v1/apps/verify_credentials", token.body.access_token)).body.name, "Test app")

      const again = yield* browser.get(asked)
      assert.strictEqual(again.status, 302, "the same scopes were allowed before")
      assert.isTrue(locationOf(again).searchParams.has("code"))
      const more = yield* browser.get(authorizeUrl(app, { scope: "read write" }))
      assert.strictEqual(more.status, 200, "other scopes are asked for")
      const forced = yield* browser.get(`${asked}&force_login=true`)
      assert.strictEqual(locationOf(forced).pathname, "/auth/sign_in")
      assert.strictEqual((yield* browser.get(forced.headers.get("location") ?? "")).status, 200)
    }))

  it.effect("a user who denies is sent back with an error, by button and by DELETE", () =>
    Effect.gen(function*() {
      yield* user("bert")
      const app = yield* client("read")
      const browser = TestBrowser.make()
      yield* browser.signIn("bert")
      const consent = yield* browser.get(authorizeUrl(app, { state: "s" }))
      const fields = TestBrowser.formsOf(consent)[0]?.fields ?? {}
      const denials = [
        yield* browser.submit(consent, {}, 1),
        yield* browser.request("/oauth/authorize", { method: "DELETE", body: new URLSearchParams(fields) })
      ]
      for (const denied of denials) {
        assert.deepStrictEqual(Object.fromEntries(locationOf(denied).searchParams), {
          error: "access_denied",
          error_description: "The resource owner or authorization server denied the request.",
          state: "s"
        })
      }
    }))

  it.effect("answers in the fragment or in a form, and shows the code to apps without an address", () =>
    Effect.gen(function*() {
      yield* user("carla")
      const app = yield* client("read", "myapp://back")
      const browser = TestBrowser.make()
      yield* browser.signIn("carla")
      const modes = (mode: string) =>
        Effect.flatMap(browser.get(authorizeUrl(app, { response_mode: mode, state: "<s>" })), browser.submit)
      const fragment = yield* modes("fragment")
      assert.match(fragment.headers.get("location") ?? "", /^myapp:\/\/back#code=[\w-]{43}&state=%3Cs%3E$/)

      const posted = yield* modes("form_post")
      assert.strictEqual(posted.status, 200)
      const [form] = TestBrowser.formsOf(posted)
      assert.strictEqual(form?.action, "myapp://back")
      assert.strictEqual(form?.fields["state"], "<s>")
      const script = /<script>(.*?)<\/script>/.exec(posted.text)?.[1] ?? ""
      const hash = createHash("sha256").update(script).digest("base64")
      assert.include(posted.headers.get("content-security-policy") ?? "", `script-src 'sha256-${hash}'`)

      const native = yield* client("read", "urn:ietf:wg:oauth:2.0:oob")
      const shown = yield* Effect.flatMap(browser.get(authorizeUrl(native)), browser.submit)
      assert.strictEqual(locationOf(shown).pathname, "/oauth/authorize/native")
      const page = yield* browser.get(shown.headers.get("location") ?? "")
      const code = /<code class="secret">([\w-]{43})<\/code>/.exec(page.text)?.[1] ?? ""
      assert.strictEqual((yield* exchange(native, code)).status, 200)
    }))

  it.effect("what is wrong with a request goes to the app, unless its address is in doubt", () =>
    Effect.gen(function*() {
      const app = yield* client("read write:media")
      const cases: ReadonlyArray<[Record<string, string>, string, string]> = [
        [{ response_type: "" }, "invalid_request", "Missing required parameter: response_type."],
        [
          { response_type: "token" },
          "unsupported_response_type",
          "The authorization server does not support this response type."
        ],
        [{ scope: "write" }, "invalid_scope", "The requested scope is invalid, unknown, or malformed."],
        [{ scope: "read:accounts" }, "invalid_scope", "The requested scope is invalid, unknown, or malformed."],
        [
          { code_challenge: challenge, code_challenge_method: "plain" },
          "invalid_request",
          "The code_challenge_method must be S256."
        ],
        [{ code_challenge: challenge }, "invalid_request", "The code_challenge_method must be S256."],
        [{ code_challenge_method: "plain" }, "invalid_request", "The code_challenge_method must be S256."],
        [
          { code_challenge: "short", code_challenge_method: "S256" },
          "invalid_request",
          "The code_challenge is not valid."
        ],
        [{ response_mode: "web_message" }, "invalid_request", "The response mode is not supported."]
      ]
      for (const [more, error, text] of cases) {
        const location = locationOf(yield* get(authorizeUrl(app, { ...more, state: "s" })))
        assert.strictEqual(location.origin, "https://app.example", JSON.stringify(more))
        assert.deepStrictEqual(Object.fromEntries(location.searchParams), {
          error,
          error_description: text,
          state: "s"
        })
      }
      const unknown = yield* get(authorizeUrl({ ...app, clientId: "nobody" }))
      assert.strictEqual(unknown.status, 401)
      assert.include(unknown.text, "unknown client")
      const nameless = yield* get("/oauth/authorize?response_type=code")
      assert.strictEqual(nameless.status, 400)
      assert.include(nameless.text, "Missing required parameter: client_id.")
    }))
})

layer(server(), { excludeTestServices: true })("row 71", (it) => {
  it.effect("40 cases: an address must be, letter by letter, one that the app registered", () =>
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
        ["https://APP.example/back", false],
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
        const answer = yield* get(`/oauth/authorize?${query}`)
        assert.strictEqual(answer.status, good ? 302 : 400, uri)
        if (good) assert.strictEqual(locationOf(answer).pathname, "/auth/sign_in")
        else assert.include(answer.text, "The redirect uri included is not valid.", uri)
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
        const answer = yield* exchange(app, yield* codeFor(app, "dora", asked), brought)
        assert.strictEqual(answer.status, 400, JSON.stringify([asked, brought]))
        assert.deepStrictEqual(answer.body, invalidGrant)
      }
      const missing = yield* exchange(app, "x", { redirect_uri: "" })
      assert.deepStrictEqual(missing.body, {
        error: "invalid_request",
        error_description: "Missing required parameter: redirect_uri."
      })
    }))

  it.effect("a code used again ends the token that was made from it", () =>
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

  it.effect("50 exchanges at once make one token", () =>
    Effect.gen(function*() {
      yield* user("fritz")
      // The first rounds open the connections to the database that the later ones need to meet each other.
      for (const _ of Array.from({ length: 4 })) {
        const app = yield* client("read")
        const code = yield* codeFor(app, "fritz")
        const answers = yield* Effect.all(Array.from({ length: 50 }, () => exchange(app, code)), { concurrency: 50 })
        const made = answers.filter(({ status }) => status === 200)
        assert.strictEqual(made.length, 1)
        assert.strictEqual(new Set(answers.map(({ body }) => body.access_token)).size, 2)
        assert.strictEqual((yield* get("/oauth/token/info", made[0]?.body.access_token)).status, 401)
      }
    }))
})
