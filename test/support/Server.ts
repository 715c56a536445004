import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Redacted } from "effect"
import * as Operator from "../../src/cli/Operator.ts"
import * as Database from "../../src/layers/Database.ts"
import { Environment } from "../../src/layers/Environment.ts"
import * as Server from "../../src/layers/Server.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { givenEmail } from "../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../src/services/identity/Registrations.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { committedOnly } from "./CommittedOnly.ts"
import * as KeptSessions from "./KeptSessions.ts"
import * as KeyPairs from "./KeyPairs.ts"
import * as Loopback from "./Loopback.ts"
import { freePort, unlessTaken } from "./ports.ts"
import { responseSeconds } from "./Program.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** A user of the server under test, with a token of all scopes. */
export interface Person {
  readonly accountId: AccountId
  readonly username: string
  readonly password: string
  readonly token: string
}

export const allScopes = ["profile", "read", "write", "follow", "push"]

/** The whole server in this process, with its own port and database. */
export class TestServer extends Context.Service<TestServer, {
  /** Origin, without a trailing slash. */
  readonly baseUrl: string
  /** Environment variables that it was started with. */
  readonly variables: Record<string, string>
  /** Creates an account like the command line. */
  readonly createPerson: (username: string, scopes?: ReadonlyArray<string>) => Effect.Effect<Person>
  /** Issues another token for an account. */
  readonly createToken: (accountId: AccountId, scopes: ReadonlyArray<string>) => Effect.Effect<string>
  /** `fetch` on the server. Sends JSON if `json` is given, and the token as a bearer token. */
  readonly fetch: (path: string, options?: RequestOptions) => Effect.Effect<Response>
}>()("murmuration/test/TestServer") {
  /** Starts without rate limits unless `variables` set them. Also provides all services of the server. */
  static readonly layer = (variables: Record<string, string> = {}) =>
    Layer.provideMerge(TestServer.layerOnly(variables), TestDatabase.layer)
  /** Starts the server on an existing database, for which it provides clients. */
  static readonly layerOnly = (variables: Record<string, string> = {}) =>
    Layer.provide(Layer.effect(TestServer, unlessTaken(start(variables))), NodeServices.layer)
}

export interface RequestOptions extends RequestInit {
  readonly token?: string
  readonly json?: unknown
}

/** Cheap hashing: passwords of tests are not secret. */
export const quick = { memory: 64, passes: 1, parallelism: 1 }
const password = "correct horse battery staple"

const start = Effect.fnUntraced(function*(given: Record<string, string>) {
  const fs = yield* FileSystem.FileSystem
  const { url } = yield* TestDatabase
  const port = given["PORT"] ?? String(yield* freePort)
  const publicUrl = given["PUBLIC_URL"]
  const baseUrl = publicUrl?.endsWith(`:${port}`) === true ? publicUrl : `http://localhost:${port}`
  const variables = {
    HOST: "127.0.0.1",
    PORT: port,
    PUBLIC_URL: baseUrl,
    DATABASE_URL: url,
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-server-" }),
    RATE_LIMITS: "off",
    RESPONSE_SECONDS_MAX: String(responseSeconds),
    LOG_LEVEL: "error",
    ...given
  }
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown(variables))
  yield* Layer.build(
    Layer.fresh(Server.layer.pipe(
      Layer.provide(Environment.layer),
      Layer.provide(
        Layer.mergeAll(config, KeyPairs.layer, committedOnly, Layer.succeed(Database.Clients, KeptSessions.clients))
      )
    ))
  )
  // Uses the test's open database sessions.
  const operator = yield* Layer.build(Layer.fresh(Operator.layerOn(quick)))
  const registrations = Context.get(operator, Registrations)
  const tokens = Context.get(operator, Tokens)

  const createToken = (accountId: AccountId, scopes: ReadonlyArray<string>) =>
    Effect.map(tokens.issue({ appId: undefined, accountId }, scopes), ({ secret }) => Redacted.value(secret))
  return TestServer.of({
    baseUrl,
    variables,
    createToken,
    createPerson: Effect.fnUntraced(function*(username, scopes = allScopes) {
      const accountId = yield* Effect.orDie(registrations.create({
        username,
        email: givenEmail(`${username}@example.org`),
        password: Redacted.make(password),
        approved: true,
        confirmed: true
      }))
      return { accountId, username, password, token: yield* createToken(accountId, scopes) }
    }),
    fetch: (path, { json, token, ...options } = {}) =>
      Effect.promise((signal) => {
        const headers = new Headers(options.headers)
        if (token !== undefined) headers.set("authorization", `Bearer ${token}`)
        if (json !== undefined) headers.set("content-type", "application/json")
        return Loopback.request(baseUrl + path, {
          signal,
          ...options,
          headers,
          ...(json === undefined ? {} : { body: JSON.stringify(json) })
        })
      })
  })
})
