import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"
import { freePort, unlessTaken } from "./ports.ts"
import { type Person, type RequestOptions, TestServer } from "./Server.ts"

/*
 * Several whole servers in one process that federate over plain http on loopback. Each has its own database and port.
 * `fediverse(2)` starts them; `settled(servers)` waits until no work is in flight.
 */

// Tests read bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** A signed-in user of one of the servers. */
export interface TestUser extends Person {
  /** URI by which other servers know the user. */
  readonly uri: string
  /** `name@127.0.0.1:3001`. */
  readonly handle: string
  /** Sends a request to the user's own server; dies if it is refused. */
  readonly ask: (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    json?: unknown
  ) => Effect.Effect<Json>
  readonly post: (text: string, more?: Record<string, unknown>) => Effect.Effect<Json>
  /** Looks an account up by its handle; returns it as the user's own server knows it. */
  readonly find: (other: { readonly handle: string }) => Effect.Effect<Json>
  readonly follow: (other: { readonly handle: string }) => Effect.Effect<Json>
  readonly relationship: (other: { readonly handle: string }) => Effect.Effect<Json>
  /** Statuses of the home timeline, newest first. */
  readonly home: Effect.Effect<ReadonlyArray<Json>>
  /** Notifications such as `follow anna`, newest first. */
  readonly notifications: Effect.Effect<ReadonlyArray<string>>
}

/** One server of the test fediverse. */
export interface TestInstance {
  readonly origin: string
  readonly domain: string
  readonly sql: SqlClient.SqlClient
  readonly fetch: (path: string, options?: RequestOptions) => Effect.Effect<Response>
  readonly person: (name: string) => Effect.Effect<TestUser>
  /** All services that the server is built from. */
  readonly context: Context.Context<TestServer | SqlClient.SqlClient>
}

const userOf = (server: TestServer["Service"], origin: string, person: Person): TestUser => {
  const domain = new URL(origin).host
  const ask: TestUser["ask"] = (method, path, json) =>
    Effect.flatMap(
      server.fetch(path, { method, token: person.token, ...(json === undefined ? {} : { json }) }),
      (response) =>
        response.ok
          ? Effect.promise(() => response.json())
          : Effect.flatMap(
            Effect.promise(() => response.text()),
            (text) => Effect.die(new Error(`${method} ${path}: ${response.status} ${text}`))
          )
    )
  const find: TestUser["find"] = ({ handle }) =>
    Effect.map(
      ask("GET", `/api/v2/search?resolve=true&type=accounts&q=${encodeURIComponent(`@${handle}`)}`),
      ({ accounts: [found] }) => found
    )
  return {
    ...person,
    uri: `${origin}/users/${person.username}`,
    handle: `${person.username}@${domain}`,
    ask,
    find,
    post: (text, more) => ask("POST", "/api/v1/statuses", { status: text, ...more }),
    follow: (other) => Effect.flatMap(find(other), ({ id }) => ask("POST", `/api/v1/accounts/${id}/follow`)),
    relationship: (other) =>
      Effect.flatMap(
        find(other),
        ({ id }) => Effect.map(ask("GET", `/api/v1/accounts/relationships?id=${id}`), ([found]) => found)
      ),
    home: ask("GET", "/api/v1/timelines/home"),
    notifications: Effect.map(
      ask("GET", "/api/v1/notifications"),
      (all: ReadonlyArray<{ type: string; account: { username: string } }>) =>
        all.map(({ account, type }) => `${type} ${account.username}`)
    )
  }
}

const started = Effect.fnUntraced(function*(variables: Record<string, string>) {
  const port = yield* freePort
  const origin = `http://127.0.0.1:${port}`
  const context = yield* Layer.build(Layer.fresh(TestServer.layer({
    PORT: String(port),
    PUBLIC_URL: origin,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    ...variables
  })))
  const server = Context.get(context, TestServer)
  const sql = Context.get(context, SqlClient.SqlClient)
  const fetched: TestInstance["fetch"] = (path, options) => server.fetch(path, options)
  return {
    origin,
    domain: new URL(origin).host,
    sql,
    context,
    fetch: fetched,
    person: (name) => Effect.map(server.createPerson(name), (person) => userOf(server, origin, person))
  } satisfies TestInstance
})

/** Starts a server on its own port that may federate over loopback. */
export const startInstance = (variables: Record<string, string> = {}) => unlessTaken(started(variables))

/** Starts the given number of servers, which do not know each other yet. */
export const fediverse = (servers: number, variables?: Record<string, string>) =>
  Effect.all(Array.from({ length: servers }, () => startInstance(variables)), { concurrency: "unbounded" })

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Counts the work in flight; `again` also counts failed work that waits for a retry. */
const pendingWork = ({ sql }: TestInstance, withRetries: boolean) =>
  Effect.map(
    Effect.orDie(sql<{ count: number }>`SELECT (SELECT count(*) FROM fanouts)::int
      + (SELECT count(*) FROM deliveries WHERE error IS NULL OR ${withRetries})::int
      + (SELECT count(*) FROM inbound_activities WHERE outcome IS NULL AND (tries = 0 OR ${withRetries}))::int AS count`),
    ([row]) => row?.count ?? 0
  )

const waitUntilIdle = (withRetries: boolean) => (instances: ReadonlyArray<TestInstance>) =>
  Effect.suspend(() => {
    let idlePolls = 0
    const counts = Effect.andThen(
      turn,
      Effect.forEach(instances, (startInstance) => pendingWork(startInstance, withRetries))
    )
    return Effect.asVoid(eventually(counts, (found) => {
      idlePolls = found.every((count) => count === 0) ? idlePolls + 1 : 0
      return idlePolls === 2
    }))
  })

/** Waits until no work is in flight, except for work that waits for a retry. */
export const settled = waitUntilIdle(false)

/** Waits for retries as well, up to the test's timeout. */
export const settledWithRetries = waitUntilIdle(true)

/** Returns the outcomes of all inbound activities, for failure messages. */
export const outcomes = ({ sql }: TestInstance) =>
  Effect.map(
    Effect.orDie(sql<{ outcome: string | null; document: string | null }>`
      SELECT outcome, document FROM inbound_activities ORDER BY id`),
    (rows) => rows.map(({ outcome }) => outcome)
  )
