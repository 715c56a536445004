import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import type { Account } from "./Nodes.ts"

/** Delay of a host's response, in milliseconds. */
const responseDelayMillis = 5

/** A received delivery: its inbox, activity, type and object. */
export interface Arrival {
  readonly inbox: string
  readonly id: string
  readonly type: string
  readonly object: string
}

/** Other servers in this process, each with its own loopback address, which accept and record everything. */
export const remoteHosts = Effect.gen(function*() {
  const arrivals: Array<Arrival> = []
  const waiting: Array<{ readonly count: number; readonly resume: () => void }> = []
  const receive = (inbox: string, text: string) => {
    const { id, object, type } = JSON.parse(text)
    arrivals.push({ inbox, id, type, object: typeof object === "string" ? object : object.id })
    for (const { count, resume } of waiting) if (arrivals.length >= count) resume()
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk)).once("end", () => {
      receive(`http://${request.headers.host}${request.url}`, Buffer.concat(chunks).toString())
      setTimeout(() => response.writeHead(202, { "content-length": "0" }).end(), responseDelayMillis)
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "0.0.0.0", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    arrivals: arrivals as ReadonlyArray<Arrival>,
    inbox: (host: number, number: number) => `http://127.0.7.${host}:${port}/users/${number}/inbox`,
    /** Completes when `count` deliveries have arrived. */
    arrived: (count: number) =>
      Effect.callback<void>((resume) => {
        if (arrivals.length >= count) return resume(Effect.void)
        waiting.push({ count, resume: () => resume(Effect.void) })
      })
  }
})

export type RemoteHosts = Effect.Success<typeof remoteHosts>

/** Adds a remote account at each of these inboxes that follows every local account. */
export const addRemoteFollowers = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, inboxes: ReadonlyArray<string>, people: ReadonlyArray<Account>) {
    const at = new Date(0)
    yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
      SELECT n, 'far' || n, split_part(inbox, '/', 3), inbox || '/owner', ${at}, ${at}
      FROM unnest(${inboxes}::text[]) WITH ORDINALITY far (inbox, n)`
    yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at)
      SELECT n, 'Person', inbox, ${at} FROM unnest(${inboxes}::text[]) WITH ORDINALITY far (inbox, n)`
    yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
      SELECT row_number() OVER (), n, person, ${at} FROM unnest(${people.map(({ id }) => id)}::bigint[]) person,
        generate_series(1, ${inboxes.length}::int) n`
  }
)

/** Returns the first arrival of each delivery, by inbox and object, in order of arrival. */
export const firstDeliveries = (arrivals: ReadonlyArray<Arrival>): ReadonlyMap<string, ReadonlyArray<Arrival>> => {
  const known = new Set<string>()
  const first = arrivals.filter(({ id, inbox }) => !known.has(`${inbox} ${id}`) && known.add(`${inbox} ${id}`))
  // The object of an activity is the post itself, or the post that it refers to.
  return Map.groupBy(first, ({ inbox, object }) => `${inbox} ${object}`)
}
