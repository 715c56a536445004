import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { Limits } from "../../../src/http/guard/Limits.ts"
import { Application, CredentialApplication } from "../../../src/http/wire/Application.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { get, post, send } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const register = (parameters: Record<string, string>) =>
  post("/api/v1/apps", { client_name: "App", redirect_uris: "myapp://x", ...parameters })

layer(server(), { excludeTestServices: true })("apps", (it) => {
  it.effect("F105: a website that is too long is refused", () =>
    Effect.gen(function*() {
      for (const characters of [2_049, 3_000]) {
        const { body, status } = yield* register({ website: `https://app.example/${"x".repeat(characters - 20)}` })
        assert.deepStrictEqual([status, body.error], [
          422,
          "Validation failed: Application website is too long (maximum is 2000 characters)"
        ])
      }
    }))

  it.effect("S-253 a registration is always a new client, with its secret", () =>
    Effect.gen(function*() {
      const parameters = { scopes: "read write:media", website: "https://app.example/about" }
      const first = yield* register(parameters)
      assert.strictEqual(first.status, 200)
      Schema.decodeUnknownSync(CredentialApplication)(first.body, { onExcessProperty: "error" })
      assert.deepInclude(first.body, {
        name: "App",
        website: "https://app.example/about",
        scopes: ["read", "write:media"],
        redirect_uris: ["myapp://x"],
        redirect_uri: "myapp://x",
        client_secret_expires_at: 0
      })
      const second = yield* register(parameters)
      assert.notStrictEqual(second.body.client_id, first.body.client_id)
      assert.deepStrictEqual((yield* register({})).body.scopes, ["read"])
    }))

  it.effect("S-253 several addresses may be sent as lines, with spaces or as a list", () =>
    Effect.gen(function*() {
      const expected = ["myapp://x", "https://app.example/y"]
      const lines = yield* register({ redirect_uris: expected.join("\n") })
      assert.deepStrictEqual(lines.body.redirect_uris, expected)
      assert.strictEqual(lines.body.redirect_uri, expected.join("\n"))
      assert.deepStrictEqual((yield* register({ redirect_uris: expected.join(" ") })).body.redirect_uris, expected)
      const form = new URLSearchParams({ client_name: "App" })
      for (const uri of expected) form.append("redirect_uris[]", uri)
      assert.deepStrictEqual((yield* send("/api/v1/apps", { method: "POST", body: form })).body.redirect_uris, expected)
      const json = yield* send("/api/v1/apps", {
        method: "POST",
        body: JSON.stringify({ client_name: "App", redirect_uris: expected, website: null }),
        headers: { "content-type": "application/json" }
      })
      assert.deepStrictEqual(json.body.redirect_uris, expected)
      assert.strictEqual(json.body.website, null)
    }))

  it.effect("S-253 name, addresses, website and scopes are checked and bounded", () =>
    Effect.gen(function*() {
      const long = `https://app.example/${"x".repeat(2_000)}`
      const cases: ReadonlyArray<[Record<string, string>, string]> = [
        [{ client_name: " " }, "Application name can't be blank"],
        [{ client_name: "x".repeat(61) }, "Application name is too long (maximum is 60 characters)"],
        [{ redirect_uris: "" }, "Redirect URI can't be blank"],
        [{ redirect_uris: "back" }, "Redirect URI must be an absolute URI."],
        [{ redirect_uris: "javascript:alert(1)" }, "Redirect URI is forbidden by the server."],
        [{ redirect_uris: "myapp://x#y" }, "Redirect URI cannot contain a fragment."],
        [{ redirect_uris: long }, "Redirect URI is too long (maximum is 2000 characters)"],
        [{ website: "myapp://x" }, "Application website is invalid"],
        [{ website: long }, "Application website is too long (maximum is 2000 characters)"],
        [{ scopes: "read everything" }, "Scopes doesn't match those configured on the server."],
        [{ scopes: "admin" }, "Scopes doesn't match those configured on the server."]
      ]
      for (const [parameters, text] of cases) {
        const { body, status } = yield* register(parameters)
        assert.deepStrictEqual([status, body], [422, { error: `Validation failed: ${text}` }])
      }
      assert.strictEqual((yield* register({ client_name: "x".repeat(60) })).status, 200)
    }))

  it.effect("S-132 a token of an app or of a user, without any scope for it, shows its app", () =>
    Effect.gen(function*() {
      const [tokens, users] = [yield* Tokens, yield* Users]
      const app = yield* client("push")
      const verify = (token?: string) => get("/api/v1/apps/verify_credentials", token)
      const appToken = yield* tokens.issue({ appId: app.id }, ["push"])
      const accountId = yield* user("xenia")
      const userToken = yield* tokens.issue({ appId: app.id, accountId }, ["push"])
      for (const { secret } of [appToken, userToken]) {
        const { body, status } = yield* verify(Redacted.value(secret))
        assert.strictEqual(status, 200)
        Schema.decodeUnknownSync(Application)(body, { onExcessProperty: "error" })
        assert.notProperty(body, "client_secret")
      }
      const ofOperator = yield* tokens.issue({ appId: undefined, accountId }, ["read", "push"])
      const itself = yield* verify(Redacted.value(ofOperator.secret))
      Schema.decodeUnknownSync(Application)(itself.body, { onExcessProperty: "error" })
      assert.deepInclude(itself.body, { name: "Murmuration", scopes: ["read", "push"] })
      assert.strictEqual((yield* get("/oauth/token/info", Redacted.value(ofOperator.secret))).body.application.uid, "")
      assert.deepStrictEqual((yield* verify()).body, { error: "The access token is invalid" })
      assert.strictEqual((yield* verify("nonsense")).status, 401)
      yield* users.change(accountId, { disabled: true })
      assert.strictEqual((yield* verify(Redacted.value(userToken.secret))).status, 403)
    }))
})

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })("apps, limited", (it) => {
  it.effect("row 75: 5 registrations in 10 minutes from an address", () =>
    Effect.gen(function*() {
      const statuses = yield* Effect.replicateEffect(Effect.map(register({}), ({ status }) => status), 6)
      assert.deepStrictEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200])
      assert.strictEqual(statuses[5], 429)
    }))
})
