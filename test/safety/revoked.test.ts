import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import { cli } from "../support/CommandLine.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { call, get } from "./Calls.ts"
import { submit } from "./Forms.ts"

/** Maximum time for which streams continue after a revocation, in milliseconds. */
const closingMillisMax = 1000
const redirectUri = "https://app.example/back"

/** Opens a WebSocket and an event stream; returns when the server has closed both. */
const openStreams = Effect.fnUntraced(function*({ token }: Person) {
  const { baseUrl, fetch } = yield* TestServer
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`, [token])
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.terminate()))
  yield* Effect.callback<void>((resume) => void socket.once("open", () => resume(Effect.void)))
  const closed = new Promise<number>((resume) => socket.once("close", () => resume(performance.now())))
  const events = yield* fetch("/api/v1/streaming/user", { token })
  assert.strictEqual(events.status, 200)
  const ended = events.text().then(() => performance.now(), () => performance.now())
  return Effect.promise(async () => Math.max(await closed, await ended))
})

interface Victim {
  readonly person: Person
  readonly app: { readonly client_id: string; readonly client_secret: string }
  /** Code that the token was issued for, and cookies of its owner's session. */
  readonly code: string
  readonly cookies: string
}

/** Creates a user who has authorised an app, with the app's token. */
const allowApp = Effect.fnUntraced(function*(username: string) {
  const { createPerson } = yield* TestServer
  const person = yield* createPerson(username)
  const { body: app } = yield* call("POST", "/api/v1/apps", undefined, {
    client_name: "App",
    redirect_uris: redirectUri,
    scopes: "read"
  })
  const { cookies } = yield* submit("/auth/sign_in", "", {
    email: `${username}@example.org`,
    password: person.password
  })
  const query = { response_type: "code", client_id: app.client_id, redirect_uri: redirectUri, scope: "read" }
  const { response } = yield* submit(`/oauth/authorize?${new URLSearchParams(query)}`, cookies)
  const code = new URL(response.headers.get("location") ?? "").searchParams.get("code") ?? ""
  const { body: { access_token: token } } = yield* exchange({ app, code })
  const victim: Victim = { app, code, cookies, person: { ...person, token } }
  return victim
})

const exchange = ({ app: { client_id, client_secret }, code }: Pick<Victim, "app" | "code">) =>
  call("POST", "/oauth/token", undefined, {
    grant_type: "authorization_code",
    client_id,
    client_secret,
    code,
    redirect_uri: redirectUri
  })

const operator = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { variables } = yield* TestServer
    assert.strictEqual((yield* cli(args, variables)).code, 0)
  })

/** Everything that ends a token; each effect completes when the token has ended. */
const causes: Record<string, (victim: Victim) => Effect.Effect<unknown, unknown, TestServer | SqlClient.SqlClient>> = {
  "the app gives the token back": ({ app: { client_id, client_secret }, person }) =>
    call("POST", "/oauth/revoke", undefined, { client_id, client_secret, token: person.token }),
  "the owner withdraws the app": ({ cookies }) => submit("/oauth/authorized_applications", cookies),
  "the code that it was made from is used again": exchange,
  "the operator sets another password": ({ person }) =>
    operator("account", "modify", person.username, "--password", "quite another one"),
  "the operator disables the account": ({ person }) => operator("account", "modify", person.username, "--disable"),
  "the operator revokes the account's tokens": ({ person }) => operator("token", "revoke", person.username)
}

layer(TestServer.layer(), { excludeTestServices: true })("row 70: streams end within a second when", (it) => {
  for (const [name, end] of Object.entries(causes)) {
    it.effect(
      name,
      () =>
        Effect.gen(function*() {
          const number = Object.keys(causes).indexOf(name)
          const [victim, other] = [yield* allowApp(`victim${number}`), yield* allowApp(`other${number}`)]
          assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials", victim.person)).status, 200)
          const ended = yield* openStreams(victim.person)
          yield* openStreams(other.person)
          yield* end(victim)
          const since = performance.now()
          assert.isBelow((yield* ended) - since, allowedMillis(closingMillisMax))
          assert.oneOf((yield* get("/api/v1/accounts/verify_credentials", victim.person)).status, [401, 403])
          assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials", other.person)).status, 200)
        }).pipe(Effect.scoped)
    )
  }
})
