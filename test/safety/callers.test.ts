import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, String } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import type { AccessRule } from "../../src/http/guard/Access.ts"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { allScopes, TestServer } from "../support/Server.ts"
import { pathOf, type Route, routes } from "./Routes.ts"

/** Method, path, callers and scopes, from Mastodon's documentation and independent of the routes. */
const table = readFileSync(`${import.meta.dirname}/access.tsv`, "utf8").trim().split("\n").map((line) =>
  line.split("\t")
)

const callerNames = { anyone: "none", public: "none or user", app: "app", "app or user": "app or user", user: "user" }
/** Returns the permissions of a staff role, any of which is enough. */
const permissionsOf = ({ permissions }: AccessRule) =>
  permissions.length === 0 ? [] : [permissions.map(String.camelToSnake).join("|")]
/** Words of the table that are not scopes. */
const noScopes = new Set(["-", "any valid token"])

/** Deviations from the documentation: an app may read its own token's info, and authenticates introspection itself. */
const deviations = new Map([["GET /oauth/token/info", "user"], ["POST /oauth/introspect", "app"]])

describe("rows 65, 69: declarations", () => {
  it("each route admits the same callers as Mastodon's, with the same scopes", () => {
    const declared = routes.map(({ method, path, rule }) => [
      method,
      path,
      deviations.get(`${method} ${path}`) ?? [callerNames[rule.callerKind], ...permissionsOf(rule)].join("+"),
      rule.scopes.toSorted().join(" ")
    ])
    const documented = table.map(([method = "", path = "", auth = "", scopes = ""]) => [
      method,
      path,
      auth,
      noScopes.has(scopes) ? "" : scopes.split(" ").toSorted().join(" ")
    ])
    const inOrder = (rows: ReadonlyArray<ReadonlyArray<string>>) => rows.map((row) => row.join("\t")).toSorted()
    assert.deepStrictEqual(inOrder(declared), inOrder(documented))
  })
})

/** Part of a response that tells the caller why it was refused. */
interface Reply {
  readonly status: number
  readonly error: string | undefined
}

const callRoute = Effect.fnUntraced(function*(route: Route, token?: string) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(pathOf(route, "1"), {
    method: route.method,
    ...(route.method === "GET" || route.method === "DELETE" ? {} : { json: {} }),
    ...(token === undefined ? {} : { token })
  })
  const text = yield* Effect.promise(() => response.text())
  const [, error] = /^\{"error":"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  const reply: Reply = { status: response.status, error }
  return reply
})

/** Messages of the guard, not of handlers. */
const guardMessages = new Set([
  "The access token is invalid",
  "The access token was revoked",
  "This method requires an authenticated user",
  "This method requires an client credentials authentication",
  "This action is outside the authorized scopes",
  "Your login is missing a confirmed e-mail address",
  "Your login is currently pending approval",
  "Your login is currently disabled"
])
const admitted = ({ error }: Reply) => error === undefined || !guardMessages.has(error)

const invalid = { status: 401, error: "The access token is invalid" }
const anonymous = { status: 401, error: "This method requires an authenticated user" }
const userOnly = { status: 422, error: "This method requires an authenticated user" }
const appOnly = { status: 403, error: "This method requires an client credentials authentication" }
const outside = { status: 403, error: "This action is outside the authorized scopes" }
const missing = { status: 403, error: "Your login is missing a confirmed e-mail address" }
const waiting = { status: 403, error: "Your login is currently pending approval" }
const disabled = { status: 403, error: "Your login is currently disabled" }

/** Routes for users whose address is unconfirmed or who are unapproved (auth.md section 5). */
const exempt = new Set([
  "/api/v1/emails/confirmations",
  "/api/v1/emails/check_confirmation",
  "/api/v1/apps/verify_credentials",
  "/oauth/token/info"
])

/** Routes for users whose account has moved. */
const excusedMoved = new Set(["GET /api/v1/accounts/move", "GET /api/v1/accounts/move/followers"])

type Who = Route["rule"]["callerKind"]
type Kind = keyof typeof responses
/** Responses to each kind of caller that is refused (auth.md section 5). */
const responses = {
  nobody: (who: Who) => who === "public" ? undefined : invalid,
  unknown: () => invalid,
  revoked: () => ({ status: 401, error: "The access token was revoked" }),
  app: (who: Who) => who === "user" ? userOnly : undefined,
  user: (who: Who) => who === "app" ? appOnly : undefined,
  unconfirmed: (_: Who, path: string) => exempt.has(path) ? undefined : missing,
  pending: (_: Who, path: string) => exempt.has(path) ? undefined : waiting,
  disabled: () => disabled,
  suspended: () => disabled,
  moved: (who: Who, path: string, method: string) =>
    who === "user" ? excusedMoved.has(`${method} ${path}`) ? undefined : disabled : who === "app" ? appOnly : undefined
}
const kinds = Object.keys(responses) as ReadonlyArray<Kind>

const jsonOf = (response: Response) =>
  Effect.promise(async (): Promise<Record<string, string>> => (await response.json()) as Record<string, string>)

/** Registers a client, and issues its own token. */
const register = Effect.gen(function*() {
  const { fetch } = yield* TestServer
  const scope = allScopes.join(" ")
  const registration = { client_name: "App", redirect_uris: "urn:ietf:wg:oauth:2.0:oob", scopes: scope }
  const { client_id, client_secret } = yield* jsonOf(
    yield* fetch("/api/v1/apps", { method: "POST", json: registration })
  )
  const grant = { grant_type: "client_credentials", client_id, client_secret, scope }
  const { access_token } = yield* jsonOf(yield* fetch("/oauth/token", { method: "POST", json: grant }))
  return access_token ?? ""
})

/** Makes a token of each kind of caller. */
const makeTokens = Effect.gen(function*() {
  const { createPerson, createToken } = yield* TestServer
  const sql = yield* SqlClient.SqlClient
  const app = yield* register
  const target = yield* createPerson("target")
  const createMember = Effect.fnUntraced(
    function*(name: string, change?: (id: bigint) => Effect.Effect<unknown, unknown>) {
      const { accountId } = yield* createPerson(name)
      if (change !== undefined) yield* Effect.orDie(change(accountId))
      return yield* createToken(accountId, Scopes.all)
    }
  )
  const tokens = {
    nobody: undefined,
    unknown: "no-such-token",
    app,
    user: yield* createMember("user"),
    revoked: yield* createMember("revoked"),
    unconfirmed: yield* createMember(
      "unconfirmed",
      (id) => sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${id}`
    ),
    pending: yield* createMember("pending", (id) => sql`UPDATE users SET approved = false WHERE account_id = ${id}`),
    disabled: yield* createMember("disabled", (id) => sql`UPDATE users SET disabled = true WHERE account_id = ${id}`),
    suspended: yield* createMember(
      "suspended",
      (id) => sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${id}`
    ),
    moved: yield* createMember(
      "moved",
      (id) => sql`UPDATE accounts SET moved_to_id = ${target.accountId} WHERE id = ${id}`
    )
  }
  // Routes about the token's app need tokens of an app; these are unused so far.
  yield* sql`UPDATE oauth_tokens SET app_id = (SELECT min(id) FROM oauth_apps)`
  yield* sql`UPDATE oauth_tokens t SET revoked_at = t.created_at FROM accounts a
    WHERE a.id = t.account_id AND a.username = 'revoked'`
  return tokens
})

layer(TestServer.layer(), { excludeTestServices: true })("every route", (it) => {
  it.effect(
    "row 65: admits each kind of caller, or states the reason",
    () =>
      Effect.gen(function*() {
        const tokens = yield* makeTokens
        for (const kind of kinds) {
          for (const route of routes) {
            const { rule: { callerKind } } = route
            const reply = yield* callRoute(route, tokens[kind])
            const refusal = callerKind === "anyone" ? undefined : responses[kind](callerKind, route.path, route.method)
            const label = `${kind}: ${route.method} ${route.path} ${JSON.stringify(reply)}`
            if (refusal === undefined) assert.isTrue(admitted(reply), label)
            else assert.deepStrictEqual(reply, refusal, label)
            assert.isBelow(reply.status, 500, label)
          }
        }
      })
  )

  it.effect(
    "row 69: requires one of its scopes or a parent of one; all others are refused",
    () =>
      Effect.gen(function*() {
        const { createPerson, createToken } = yield* TestServer
        const { accountId } = yield* createPerson("scoped")
        const tokens = new Map<string, string>()
        const withScopes = Effect.fnUntraced(function*(scopes: ReadonlyArray<string>) {
          const key = scopes.join(" ")
          const token = tokens.get(key) ?? (yield* createToken(accountId, scopes))
          tokens.set(key, token)
          return token
        })
        for (const route of routes) {
          const { rule: { scopes, callerKind } } = route
          // For routes of apps, the client's scopes count rather than the token's.
          if (scopes.length === 0 || callerKind === "app") continue
          const granting = Scopes.all.filter((scope) => Scopes.grants(new Set([scope]), scopes))
          const others = Scopes.all.filter((scope) => !granting.includes(scope))
          const label = `${route.method} ${route.path}`
          assert.deepStrictEqual(yield* callRoute(route, yield* withScopes(others)), outside, label)
          for (const scope of granting) {
            const reply = yield* callRoute(route, yield* withScopes([scope]))
            assert.isTrue(admitted(reply), `${label} with ${scope}: ${JSON.stringify(reply)}`)
          }
        }
      })
  )
})

/** Public routes in restricted mode (S-020), besides those that issue a token. */
const open = new Set([
  "/api/v1/instance",
  "/api/v2/instance",
  "/api/v1/instance/languages",
  "/api/v1/instance/rules",
  "/api/v1/instance/extended_description",
  "/api/v1/instance/privacy_policy",
  "/api/v1/instance/terms_of_service",
  "/api/v1/instance/terms_of_service/:date",
  "/api/v1/instance/translation_languages",
  "/api/v1/apps",
  "/api/oembed",
  "/oauth/token",
  "/oauth/revoke",
  "/oauth/introspect",
  "/.well-known/oauth-authorization-server"
])

layer(TestServer.layer({ LIMITED_FEDERATION: "true" }), { excludeTestServices: true })("every route", (it) => {
  it.effect(
    "S-019, S-020, row 68: in restricted mode only instance information and sign-in are open",
    () =>
      Effect.gen(function*() {
        const app = yield* register
        for (const route of routes) {
          const { path, rule: { callerKind } } = route
          if (open.has(path)) {
            assert.isTrue(admitted(yield* callRoute(route)), path)
            continue
          }
          const closed = callerKind === "public" || callerKind === "anyone"
          assert.deepStrictEqual(yield* callRoute(route), closed ? anonymous : invalid, `${route.method} ${path}`)
          if (closed) {
            assert.deepStrictEqual(
              yield* callRoute(route, app),
              anonymous,
              `${route.method} ${path} with an app's token`
            )
          }
        }
      })
  )
})
