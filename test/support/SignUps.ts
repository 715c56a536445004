import { Effect } from "effect"
import { ask } from "./Api.ts"
import { TestServer } from "./Server.ts"

/** Issues a token of an app that signs people up. */
export const appToken = Effect.gen(function*() {
  const { body: app } = yield* ask(undefined, "POST", "/api/v1/apps", {
    client_name: "Sign-ups",
    redirect_uris: "urn:ietf:wg:oauth:2.0:oob",
    scopes: "read write"
  })
  const { body } = yield* ask(undefined, "POST", "/oauth/token", {
    grant_type: "client_credentials",
    client_id: app.client_id,
    client_secret: app.client_secret,
    scope: "read write"
  })
  return String(body.access_token)
})

/** Signs a person up through an app. */
export const registerWith = Effect.fnUntraced(function*(username: string, more: object) {
  const { fetch } = yield* TestServer
  const response = yield* fetch("/api/v1/accounts", {
    method: "POST",
    token: yield* appToken,
    json: {
      username,
      email: `${username}@mail.example`,
      password: "correct horse battery staple",
      agreement: true,
      locale: "en",
      ...more
    }
  })
  return { status: response.status, body: JSON.parse(yield* Effect.promise(() => response.text())) }
})

/** Signs a person up with the code of an invite. */
export const signUpWithInvite = (username: string, code: string) => registerWith(username, { invite_code: code })
