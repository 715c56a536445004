import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"
import { freePort, unlessTaken } from "./ports.ts"
import { type Person, type RequestOptions, TestServer } from "./Server.ts"

/*
 * Several whole servers of ours in one process, each with a database and a port of its own, that federate over plain http on
 * loopback. `fediverse(2)` starts them; `settled(servers)` waits until nothing that anybody did is still on its way.
 */

// Tests look into answers of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** Somebody on one of the servers, as a client is signed in. */
export interface Citizen extends Person {
  /** The id by which other servers know them. */
  readonly uri: string
  /** `name@127.0.0.1:3001`. */
  readonly handle: string
  /** A request of theirs to their own server; dies where it is refused. */
  readonly ask: (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    json?: unknown
  ) => Effect.Effect<Json>
  readonly post: (text: string, more?: Record<string, unknown>) => Effect.Effect<Json>
  /** The account as their own server knows it, found by its handle. */
  readonly find: (other: { readonly handle: string }) => Effect.Effect<Json>
  readonly follow: (other: { readonly handle: string }) => Effect.Effect<Json>
  readonly relationship: (other: { readonly handle: string }) => Effect.Effect<Json>
  /** What is in their home, the newest first. */
  readonly home: Effect.Effect<ReadonlyArray<Json>>
  /** `follow anna`, the newest first. */
  readonly notifications: Effect.Effect<ReadonlyArray<string>>
}

/** One server of the little fediverse. */
export interface Place {
  readonly origin: string
  readonly domain: string
  readonly sql: SqlClient.SqlClient
  readonly fetch: (path: string, options?: RequestOptions) => Effect.Effect<Response>
  readonly person: (name: string) => Effect.Effect<Citizen>
  /** Everything that the server is built of. */
  readonly context: Context.Context<TestServer | SqlClient.SqlClient>
}

const citizen = (server: TestServer["Service"], origin: string, person: Person): Citizen => {
  const domain = new URL(origin).host
  const ask: Citizen["ask"] = (method, path, json) =>
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
  const find: Citizen["find"] = ({ handle }) =>
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
  const fetched: Place["fetch"] = (path, options) => server.fetch(path, options)
  return {
    origin,
    domain: new URL(origin).host,
    sql,
    context,
    fetch: fetched,
    person: (name) => Effect.map(server.createPerson(name), (person) => citizen(server, origin, person))
  } satisfies Place
})

/** A server on a port of its own that may talk to others on loopback. */
export const place = (variables: Record<string, string> = {}) => unlessTaken(started(variables))

/** So many servers that know nothing of each other yet. */
export const fediverse = (servers: number, variables?: Record<string, string>) =>
  Effect.all(Array.from({ length: servers }, () => place(variables)), { concurrency: "unbounded" })

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** What is on its way; `again` counts what failed and waits for its next try. */
const waiting = ({ sql }: Place, again: boolean) =>
  Effect.map(
    Effect.orDie(sql<{ count: number }>`SELECT (SELECT count(*) FROM fanouts)::int
      + (SELECT count(*) FROM deliveries WHERE error IS NULL OR ${again})::int
      + (SELECT count(*) FROM inbound_activities WHERE outcome IS NULL AND (tries = 0 OR ${again}))::int AS count`),
    ([row]) => row?.count ?? 0
  )

const quiet = (again: boolean) => (places: ReadonlyArray<Place>) =>
  Effect.suspend(() => {
    let looks = 0
    const counts = Effect.andThen(turn, Effect.forEach(places, (place) => waiting(place, again)))
    return Effect.asVoid(eventually(counts, (found) => {
      looks = found.every((count) => count === 0) ? looks + 1 : 0
      return looks === 2
    }))
  })

/** Waits until nothing is on its way any more but what has failed and waits for its next try. */
export const settled = quiet(false)

/** Waits for what failed as well, as long as the test may last. */
export const over = quiet(true)

/** What became of everything that came in, for messages of tests. */
export const outcomes = ({ sql }: Place) =>
  Effect.map(
    Effect.orDie(sql<{ outcome: string | null; document: string | null }>`
      SELECT outcome, document FROM inbound_activities ORDER BY id`),
    (rows) => rows.map(({ outcome }) => outcome)
  )
