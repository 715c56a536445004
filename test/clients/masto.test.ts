import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createOAuthAPIClient, createRestAPIClient } from "masto"
import { TestServer } from "../support/Server.ts"
import { client, conforms, newcomer, refusal } from "./Masto.ts"
import { allow } from "./Visitor.ts"

const scopes = "read write follow push"
const redirectUri = "https://app.example/back"
const open = { REGISTRATIONS: "open", SIGNUP_CONFIRMATION: "none" }

layer(TestServer.layer(open), { excludeTestServices: true })("masto: signing in", (it) => {
  it.effect("S-190, S-242, S-254: registers an app, is authorized by a user, exchanges the code for a token, and revokes it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const person = yield* newcomer("ada")
      const anybody = yield* client()
      yield* Effect.promise(async () => {
        const app = await anybody.v1.apps.create({ clientName: "Masto", redirectUris: redirectUri, scopes })
        conforms(app, "Client")
        const { clientId, clientSecret } = app
        assert.isString(clientId)
        assert.isString(clientSecret)
        const query = new URLSearchParams({
          client_id: clientId ?? "",
          redirect_uri: redirectUri,
          response_type: "code",
          scope: scopes,
          state: "s t&te"
        })
        const back = await allow(baseUrl, `/oauth/authorize?${query}`, person)
        assert.strictEqual(back.origin + back.pathname, redirectUri)
        assert.strictEqual(back.searchParams.get("state"), "s t&te")

        const oauth = createOAuthAPIClient({ url: baseUrl })
        const credentials = { clientId: clientId ?? "", clientSecret: clientSecret ?? "", redirectUri }
        const token = await oauth.token.create({
          grantType: "authorization_code",
          code: back.searchParams.get("code") ?? "",
          ...credentials
        })
        conforms(token, "Token")
        assert.deepInclude(token, { tokenType: "Bearer", scope: scopes })
        const api = createRestAPIClient({ url: baseUrl, accessToken: token.accessToken })
        assert.strictEqual((await api.v1.accounts.verifyCredentials()).acct, "ada")
        assert.strictEqual((await api.v1.apps.verifyCredentials()).name, "Masto")
        await oauth.revoke({ ...credentials, token: token.accessToken })
        assert.deepInclude(await refusal(api.v1.accounts.verifyCredentials()), { statusCode: 401 })
      })
    }))

  it.effect("S-130, S-241, S-271: signs a user up with the token of the app", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const anybody = yield* client()
      yield* Effect.promise(async () => {
        const app = await anybody.v1.apps.create({ clientName: "Masto", redirectUris: [redirectUri], scopes })
        const { accessToken } = await createOAuthAPIClient({ url: baseUrl }).token.create({
          grantType: "client_credentials",
          clientId: app.clientId ?? "",
          clientSecret: app.clientSecret ?? "",
          redirectUri,
          scope: scopes
        })
        const ours = createRestAPIClient({ url: baseUrl, accessToken })
        const wish = { username: "grace", email: "grace@example.org", password: "a good password", locale: "en" }
        const refused = await refusal(ours.v1.accounts.create({ ...wish, agreement: false }))
        assert.strictEqual(refused.statusCode, 422)
        const token = await ours.v1.accounts.create({ ...wish, agreement: true })
        conforms(token, "Token")
        const grace = createRestAPIClient({ url: baseUrl, accessToken: token.accessToken })
        conforms(await grace.v1.accounts.verifyCredentials(), "CredentialAccount")
        assert.strictEqual((await grace.v1.statuses.create({ status: "I am in" })).application.name, "Masto")
      })
    }))
})
