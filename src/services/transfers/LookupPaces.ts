import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"

/**
 * Interval of look-ups at one host, in milliseconds, and look-ups that may be made at once after a pause. Mastodon responds
 * to 300 requests of an address in five minutes, of which a look-up takes two: WebFinger and the actor.
 */
export const lookUpMillis = 2_500
export const lookUpsAtOnce = 20

/** Returns the last time from which on a host may rest, so that it can be asked now; both in milliseconds since 1970. */
const latestRest = (now: number) => new Date(now + (lookUpsAtOnce - 1) * lookUpMillis)

/** Condition: look-ups at the host of a row must wait. */
export const mustWait = (sql: SqlClient.SqlClient, host: Fragment, now: number) =>
  sql`EXISTS (SELECT FROM lookup_paces p WHERE p.host = ${host} AND p.rested_at > ${latestRest(now)})`

/** Returns a function that counts a look-up of an import at a host; false if it must wait. All nodes share the counts. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return Effect.fnUntraced(function*(host: string) {
    const now = yield* Clock.currentTimeMillis
    const interval = sql`${lookUpMillis}::int * interval '1 millisecond'`
    const rows = yield* sql`INSERT INTO lookup_paces AS p (host, rested_at)
      VALUES (${host}, ${new Date(now)}::timestamptz + ${interval})
      ON CONFLICT (host) DO UPDATE SET rested_at = greatest(p.rested_at, ${new Date(now)}::timestamptz) + ${interval}
        WHERE p.rested_at <= ${latestRest(now)} RETURNING 1`
    return rows.length > 0
  })
})
