import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"

import { get } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"
import { authorizeUrl, challenge, exchange, verifier } from "./Allowing.ts"

layer(server(), { excludeTestServices: true })("authorization", (it) => {
  it.effect("S-242 S-254 a user signs in, allows an app, and the app gets a token that does not expire", () =>
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

  it.effect("a user who denies access is sent back with an error, by button and by DELETE", () =>
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

  it.effect("responds in the fragment or in a form, and shows the code to apps without an address", () =>
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

  it.effect("request errors are sent to the app, unless its address is in doubt", () =>
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
