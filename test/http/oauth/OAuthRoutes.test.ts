import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { Introspection, OAuthError, ServerMetadata, TokenInfo, UserInfo } from "../../../src/http/wire/OAuth.ts"
import { Token } from "../../../src/http/wire/Token.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { get, post, send } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

type Client = Effect.Success<ReturnType<typeof client>>

const clientToken = (app: Client, more: Record<string, string> = {}) =>
  post("/oauth/token", { grant_type: "client_credentials", ...app.credentials, ...more })

const userToken = (app: Client, accountId: AccountId, scopes = "read") =>
  Effect.flatMap(Tokens, (tokens) =>
    Effect.map(
      tokens.issue({ appId: app.id, accountId }, scopes.split(" ")),
      ({ secret }) => Redacted.value(secret)
    ))

const basic = (app: Client) => ({
  authorization: `Basic ${
    Buffer.from(`${app.credentials.client_id}:${app.credentials.client_secret}`).toString("base64")
  }`
})

const refused = (error: string, text: string) => ({ error, error_description: text })
const invalidClient = refused(
  "invalid_client",
  "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."
)

layer(server(), { excludeTestServices: true })("OAuth", (it) => {
  it.effect("S-241 a client's own token is an app without a user", () =>
    Effect.gen(function*() {
      const app = yield* client("read write")
      const token = yield* clientToken(app)
      assert.strictEqual(token.status, 200)
      Schema.decodeUnknownSync(Token)(token.body, { onExcessProperty: "error" })
      assert.strictEqual(token.body.scope, "read")
      const wide = yield* clientToken(app, { scope: "read write" })
      assert.strictEqual(wide.body.scope, "read write")
      assert.notStrictEqual(wide.body.access_token, token.body.access_token)
      const info = yield* get("/oauth/token/info", token.body.access_token)
      assert.strictEqual(info.body.resource_owner_id, null)
      const claims = yield* get("/oauth/userinfo", token.body.access_token)
      assert.deepStrictEqual([claims.status, claims.body], [
        422,
        { error: "This method requires an authenticated user" }
      ])
    }))

  it.effect("a client authenticates by parameters or by Basic, in any body format", () =>
    Effect.gen(function*() {
      const app = yield* client("read")
      const json = JSON.stringify({ grant_type: "client_credentials", ...app.credentials })
      const type = { "content-type": "application/json" }
      assert.strictEqual((yield* send("/oauth/token", { method: "POST", body: json, headers: type })).status, 200)
      const grant = { grant_type: "client_credentials" }
      assert.strictEqual((yield* post("/oauth/token", grant, basic(app))).status, 200)
      assert.strictEqual((yield* post("/oauth/token.json", grant, basic(app))).status, 200)
    }))

  it.effect("refuses invalid requests with messages", () =>
    Effect.gen(function*() {
      const app = yield* client("write")
      const cases: ReadonlyArray<[Record<string, string>, number, typeof invalidClient]> = [
        [{ grant_type: "" }, 400, refused("invalid_request", "Missing required parameter: grant_type.")],
        ...["password", "refresh_token", "implicit", "constructor", "toString"].map((type): [
          Record<string, string>,
          number,
          typeof invalidClient
        ] => [
          { grant_type: type },
          400,
          refused(
            "unsupported_grant_type",
            "The authorization grant type is not supported by the authorization server."
          )
        ]),
        [{ client_id: "nobody" }, 401, invalidClient],
        [{ client_secret: "wrong" }, 401, invalidClient],
        [{ client_id: "" }, 401, invalidClient],
        [
          { scope: "write:media" },
          400,
          refused("invalid_scope", "The requested scope is invalid, unknown, or malformed.")
        ],
        [{}, 400, refused("invalid_scope", "The requested scope is invalid, unknown, or malformed.")],
        [{ grant_type: "authorization_code" }, 400, refused("invalid_request", "Missing required parameter: code.")]
      ]
      for (const [more, status, body] of cases) {
        const response = yield* clientToken(app, more)
        assert.deepStrictEqual([response.status, response.body], [status, body], JSON.stringify(more))
        Schema.decodeUnknownSync(OAuthError)(response.body)
      }
      const other = yield* post("/oauth/token", { grant_type: "client_credentials" }, {
        authorization: "Basic nonsense"
      })
      assert.deepStrictEqual(other.body, invalidClient)
      assert.include(other.headers.get("www-authenticate") ?? "", "invalid_client")
    }))

  it.effect("S-254 a token is revoked by its own client only", () =>
    Effect.gen(function*() {
      const [app, other] = [yield* client("read"), yield* client("read")]
      const token = yield* userToken(app, yield* user("anton"))
      const revoke = (credentials: Record<string, string>, given = token) =>
        post("/oauth/revoke", { ...credentials, token: given })
      const notAllowed = refused("unauthorized_client", "You are not authorized to revoke this token")
      for (const credentials of [{}, other.credentials, { ...app.credentials, client_secret: "wrong" }]) {
        const response = yield* revoke(credentials)
        assert.deepStrictEqual([response.status, response.body], [403, notAllowed])
      }
      assert.strictEqual((yield* get("/oauth/token/info", token)).status, 200)
      const unknown = yield* revoke(app.credentials, "nonsense")
      assert.deepStrictEqual([unknown.status, unknown.body], [200, {}])
      const done = yield* revoke(app.credentials)
      assert.deepStrictEqual([done.status, done.body], [200, {}])
      assert.deepStrictEqual((yield* get("/oauth/token/info", token)).body, { error: "The access token was revoked" })
      assert.strictEqual((yield* revoke(app.credentials)).status, 200)
    }))

  it.effect("S-248 a token is introspected by its client, or with another token of the client, without read", () =>
    Effect.gen(function*() {
      const [app, other] = [yield* client("read push"), yield* client("read")]
      const token = yield* userToken(app, yield* user("berta"), "push")
      const introspect = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
        post("/oauth/introspect", { token, ...parameters }, headers)
      const active = yield* introspect(app.credentials)
      Schema.decodeUnknownSync(Introspection)(active.body, { onExcessProperty: "error" })
      assert.deepInclude(active.body, { active: true, scope: "push", client_id: app.clientId, token_type: "Bearer" })
      const bearer = (yield* clientToken(app)).body.access_token
      assert.isTrue((yield* introspect({}, { authorization: `Bearer ${bearer}` })).body.active)
      assert.isTrue((yield* introspect({}, { authorization: `Bearer ${token}` })).body.active)

      assert.deepStrictEqual((yield* introspect(other.credentials)).body, { active: false })
      assert.deepStrictEqual((yield* introspect({ ...app.credentials, token: "nonsense" })).body, { active: false })
      const bare = yield* introspect({})
      assert.deepStrictEqual([bare.status, bare.body.error], [400, "invalid_request"])
      assert.include(bare.body.error_description, "Request need to be authorized.")
      const wrong = yield* introspect({ ...app.credentials, client_secret: "x" })
      assert.deepStrictEqual([wrong.status, wrong.body], [401, invalidClient])
      const stranger = yield* introspect({}, { authorization: "Bearer nonsense" })
      assert.deepStrictEqual([stranger.status, stranger.body.error], [401, "invalid_token"])
      yield* post("/oauth/revoke", { ...app.credentials, token })
      assert.deepStrictEqual((yield* introspect(app.credentials)).body, { active: false })
    }))

  it.effect("S-240 token info and the claims of userinfo", () =>
    Effect.gen(function*() {
      const app = yield* client("profile read push")
      const accountId = yield* user("carl")
      const info = yield* get("/oauth/token/info", yield* userToken(app, accountId, "push"))
      assert.include(info.text, `"resource_owner_id":${accountId},`)
      Schema.decodeUnknownSync(TokenInfo)(info.body, { onExcessProperty: "error" })
      assert.deepInclude(info.body, { scope: ["push"], expires_in: null, application: { uid: app.clientId } })
      const token = yield* userToken(app, accountId, "profile")
      for (const method of ["GET", "POST"]) {
        const claims = yield* send("/oauth/userinfo", { method, headers: { authorization: `Bearer ${token}` } })
        Schema.decodeUnknownSync(UserInfo)(claims.body, { onExcessProperty: "error" })
        assert.deepStrictEqual(claims.body, {
          iss: "https://local.example/",
          sub: "https://local.example/users/carl",
          name: "carl",
          preferred_username: "carl",
          profile: "https://local.example/@carl",
          picture: "https://local.example/avatars/original/missing.png"
        })
      }
      const narrow = yield* get("/oauth/userinfo", yield* userToken(app, accountId, "read"))
      assert.deepStrictEqual([narrow.status, narrow.body], [
        403,
        { error: "This action is outside the authorized scopes" }
      ])
      assert.strictEqual((yield* get("/oauth/token/info")).status, 401)
    }))

  it.effect("S-254 the metadata names the endpoints and their capabilities", () =>
    Effect.gen(function*() {
      const { body, status } = yield* get("/.well-known/oauth-authorization-server")
      assert.strictEqual(status, 200)
      Schema.decodeUnknownSync(ServerMetadata)(body, { onExcessProperty: "error" })
      assert.strictEqual(body.authorization_endpoint, "https://local.example/oauth/authorize")
      assert.deepStrictEqual(body.grant_types_supported, ["authorization_code", "client_credentials"])
      assert.deepStrictEqual(body.code_challenge_methods_supported, ["S256"])
      assert.includeMembers(body.scopes_supported, ["read", "write:statuses", "follow", "push", "profile"])
      for (const path of ["/oauth/applications", "/oauth/applications/new"]) {
        assert.strictEqual((yield* get(path)).status, 403)
      }
    }))
})
