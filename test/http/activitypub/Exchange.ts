import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Json } from "../../services/federation/Peer.ts"
import { json } from "../../support/Api.ts"
import type { TestServer } from "../../support/Server.ts"
import { OtherServer } from "./Sending.ts"

/*
 * Both servers in tests of fetching: documents of the other server, requests to it, and state of the server under test.
 */

/** Serves documents at the paths of their ids. */
export const serve = (...documents: ReadonlyArray<Json>) =>
  OtherServer.use((there) =>
    Effect.sync(() => {
      for (const document of documents) {
        there.documents.set(new URL(String(document["id"])).pathname, {
          "@context": "https://www.w3.org/ns/activitystreams",
          ...document
        })
      }
    })
  )

/** Handles a path by a function; returns its URL. */
export const respond = (path: string, by: (request: IncomingMessage, response: ServerResponse) => void) =>
  OtherServer.use(({ documents, url }) =>
    Effect.sync(() => {
      documents.set(path, by)
      return url + path
    })
  )

/** Returns the number of requests to the other server for a URL. */
export const timesAsked = (address: unknown) =>
  OtherServer.use(({ requests }) =>
    Effect.sync(() => {
      const { pathname, search } = new URL(String(address))
      return requests.filter(({ url }) => url === pathname + search).length
    })
  )

/** Returns the remote ids of posts that a search with `resolve` finds. */
export const resolved = (token: string, q: unknown): Effect.Effect<ReadonlyArray<string>, never, TestServer> =>
  Effect.map(
    json({ token }, `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(q))}`),
    ({ statuses }) => statuses.map(({ uri }: { readonly uri: string }) => uri)
  )

/** Returns the current outcome of the newest activity. */
export const outcome = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ outcome: string | null }>`SELECT outcome FROM inbound_activities ORDER BY id DESC LIMIT 1`
).pipe(Effect.map(([row]) => row?.outcome ?? undefined), Effect.orDie)

/** Returns the outcome of the activity with this id; undefined while it is pending. */
export const outcomeOf = (uri: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ outcome: string | null }>`SELECT outcome FROM inbound_activities WHERE uri = ${uri}`
  ).pipe(Effect.map(([row]) => row?.outcome ?? undefined), Effect.orDie)

/** Polls until there is a value; the test's own timeout ends it. */
export const eventually = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  look.pipe(
    Effect.repeat({ until: (found) => found !== undefined, schedule: Schedule.spaced("5 millis") }),
    Effect.flatMap((found) => found === undefined ? Effect.die("nothing came") : Effect.succeed(found))
  )

/** Inserts an accepted follow of a remote account by a local one. */
export const follows = Effect.fnUntraced(function*(follower: bigint, followedUri: string) {
  const sql = yield* SqlClient.SqlClient
  const now = Date.now()
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
    SELECT next_id(${now}), ${follower}, id, ${new Date(now)} FROM accounts WHERE uri = ${followedUri}`
})

/** Makes delayed work due now. */
export const hurry = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE inbound_activities SET due_at = ${new Date(0)} WHERE outcome IS NULL`
)

/** Waits for the outcome of the newest activity. */
export const ended = eventually(outcome)

/** Returns the remote ids of the posts in a user's home; for boosts, of the boosted post. */
export const home = (token: string): Effect.Effect<ReadonlyArray<string>, never, TestServer> =>
  Effect.map(
    json({ token }, "/api/v1/timelines/home"),
    (statuses: ReadonlyArray<{ uri: string; reblog: { uri: string } | null }>) =>
      statuses.map(({ reblog, uri }) => reblog?.uri ?? uri)
  )
