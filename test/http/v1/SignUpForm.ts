import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { post, type Reply } from "../../support/Requests.ts"
import { client, password, user } from "../../support/SignedIn.ts"

export const clientToken = Effect.fnUntraced(function*(scopes = "read write") {
  const app = yield* client(scopes, "myapp://back")
  const { secret } = yield* (yield* Tokens).issue({ appId: app.id }, app.scopes)
  return Redacted.value(secret)
})

export const wish = (username: string) => ({
  username,
  email: `${username}@mail.example`,
  password,
  agreement: "true",
  locale: "en"
})

export const signUp = (token: string, parameters: Record<string, string>) =>
  post("/api/v1/accounts", parameters, { authorization: `Bearer ${token}` })

export const details = ({ body, status }: Reply) => {
  assert.strictEqual(status, 422)
  const fields: Record<string, ReadonlyArray<{ error: string; description: string }>> = body.details
  return Object.fromEntries(
    Object.entries(fields).map(([field, problems]) => [field, problems.map(({ error }) => error)])
  )
}

export const invite = Effect.fnUntraced(function*(
  code: string,
  settings: { readonly by: string; readonly maxUses?: number; readonly expiresAt?: Date }
) {
  const sql = yield* SqlClient.SqlClient
  const accountId = yield* user(settings.by)
  yield* sql`INSERT INTO invites (id, code, account_id, max_uses, expires_at, created_at)
    VALUES (next_id(0), ${code}, ${accountId}, ${settings.maxUses ?? null}, ${settings.expiresAt ?? null}, ${new Date(
    0
  )})`
  return accountId
})
