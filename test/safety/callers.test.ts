import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { allScopes, TestServer } from "../support/Server.ts"
import { pathOf, type Route, routes } from "./Routes.ts"

/** Method, path, who may call and with which scopes, as Mastodon's documentation has it: written down apart from the routes. */
const table = readFileSync(`${import.meta.dirname}/access.tsv`, "utf8").trim().split("\n").map((line) => line.split("\t"))

const words = { anyone: "none", public: "none or user", app: "app", "app or user": "app or user", user: "user" }
/** Words of the table that name no scope. */
const noScopes = new Set(["-", "any valid token"])

/** Where we take more than the documentation says: an app may look at its own token, and authenticates a question itself. */
const wider = new Map([["GET /oauth/token/info", "user"], ["POST /oauth/introspect", "app"]])

describe("rows 65, 69: declarations", () => {
  it("each route lets in whom Mastodon's does, with the same scopes", () => {
    const declared = routes.map(({ method, path, rule }) => [
      method,
      path,
      wider.get(`${method} ${path}`) ?? words[rule.who],
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

/** An answer as far as it tells a caller why it was refused. */
interface Answer {
  readonly status: number
  readonly error: string | undefined
}

const ask = Effect.fnUntraced(function*(route: Route, token?: string) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(pathOf(route, "1"), {
    method: route.method,
    ...(route.method === "GET" || route.method === "DELETE" ? {} : { json: {} }),
    ...(token === undefined ? {} : { token })
  })
  const text = yield* Effect.promise(() => response.text())
  const [, error] = /^\{"error":"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  const answer: Answer = { status: response.status, error }
  return answer
})

/** What the guard says, and no handler. */
const texts = new Set([
  "The access token is invalid",
  "The access token was revoked",
  "This method requires an authenticated user",
  "This method requires an client credentials authentication",
  "This action is outside the authorized scopes",
  "Your login is missing a confirmed e-mail address",
  "Your login is currently pending approval",
  "Your login is currently disabled"
])
const admitted = ({ error }: Answer) => error === undefined || !texts.has(error)

/** The tokens that somebody may come with, by what is special about them. */
const makeTokens = Effect.gen(function*() {
  const { createPerson, createToken, fetch } = yield* TestServer
  const sql = yield* SqlClient.SqlClient
  const special = Effect.fnUntraced(function*(name: string, change: (id: bigint) => Effect.Effect<unknown, unknown>) {
    const { accountId } = yield* createPerson(name)
    yield* Effect.orDie(change(accountId))
    return yield* createToken(accountId, Scopes.all)
  })
  const other = yield* createPerson("target")
  const app = yield* fetch("/api/v1/apps", {
    method: "POST",
    json: { client_name: "App", redirect_uris: "urn:ietf:wg:oauth:2.0:oob", scopes: allScopes.join(" ") }
  })
  const { client_id, client_secret } = (yield* Effect.promise(() => app.json())) as Record<string, string>
  const granted = yield* fetch("/oauth/token", {
    method: "POST",
    json: { grant_type: "client_credentials", client_id, client_secret, scope: allScopes.join(" ") }
  })
  const { access_token } = (yield* Effect.promise(() => granted.json())) as Record<string, string>
  return {
    app: access_token ?? "",
    revoked: yield* special("revoked", () => sql`SELECT 1`),
    unconfirmed: yield* special("unconfirmed", (id) => sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${id}`),
    pending: yield* special("pending", (id) => sql`UPDATE users SET approved = false WHERE account_id = ${id}`),
    disabled: yield* special("disabled", (id) => sql`UPDATE users SET disabled = true WHERE account_id = ${id}`),
    suspended: yield* special("suspended", (id) => sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${id}`),
    moved: yield* special("moved", (id) => sql`UPDATE accounts SET moved_to_id = ${other.accountId} WHERE id = ${id}`)
  }
})
