import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"

import { post } from "../../support/Requests.ts"
import type { client } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"

export const verifier = "a".repeat(20) + "-._~" + "Z".repeat(30)
export const challenge = createHash("sha256").update(verifier).digest("base64url")

export type Client = Effect.Success<ReturnType<typeof client>>

export const authorizeUrl = (app: Client, more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    ...more
  })}`

/** Signs a user in and allows the app; returns the app's code. */
export const codeFor = Effect.fnUntraced(function*(app: Client, username: string, more: Record<string, string> = {}) {
  const browser = TestBrowser.make()
  yield* browser.signIn(username)
  const response = yield* browser.submit(yield* browser.get(authorizeUrl(app, more)))
  assert.strictEqual(response.status, 302)
  return locationOf(response).searchParams.get("code") ?? ""
})

export const exchange = (app: Client, code: string, more: Record<string, string> = {}) =>
  post("/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri: app.redirectUri,
    ...app.credentials,
    ...more
  })

export const invalidGrant = {
  error: "invalid_grant",
  error_description:
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
}
