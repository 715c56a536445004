import { Effect, Redacted } from "effect"
import { AccountId } from "../../src/services/database/Ids.ts"
import { givenEmail } from "../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../src/services/identity/Registrations.ts"
import { Apps } from "../../src/services/oauth/Apps.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"

/** Issues a token for an account. */
export const issueToken = Effect.fnUntraced(
  function*(account: bigint, scopes: ReadonlyArray<string> = ["read", "write", "follow"]) {
    const { secret } = yield* (yield* Tokens).issue({ appId: undefined, accountId: AccountId.make(account) }, scopes)
    return Redacted.value(secret)
  }
)

/** Registers a client app. */
export const client = Effect.fnUntraced(function*(scopes: string, redirectUri = "https://app.example/back") {
  const apps = yield* Apps
  const { app, secret } = yield* apps.register({
    name: "Test app",
    redirectUris: [redirectUri],
    scopes: scopes.split(" "),
    website: "https://app.example"
  })
  return { ...app, redirectUri, credentials: { client_id: app.clientId, client_secret: Redacted.value(secret) } }
})

export const password = "correct horse battery"

/** Creates a confirmed and approved user. */
export const user = Effect.fnUntraced(function*(username: string) {
  const registrations = yield* Registrations
  return yield* registrations.create({
    username,
    email: givenEmail(`${username}@mail.example`),
    password: Redacted.make(password),
    approved: true,
    confirmed: true
  })
})
