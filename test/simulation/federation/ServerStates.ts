import { Effect } from "effect"
import type { SimulatedServer } from "./SimulatedInstance.ts"

/** A post or boost on one server, with global ids and handles. */
export interface KnownStatus {
  readonly uri: string
  readonly author: string
  readonly local: boolean
  /** Without markup. */
  readonly text: string
  readonly visibility: "public" | "unlisted" | "private" | "direct"
  readonly deleted: boolean
  /** URI of the boosted post. */
  readonly reblogOf: string | null
  readonly mentions: ReadonlyArray<string>
  readonly poll: { readonly counts: ReadonlyArray<number>; readonly voters: number | null } | null
}

export interface Inbound {
  readonly actor: string
  readonly uri: string
  readonly outcome: string | null
  readonly receivedAt: Date
}

const words = (html: string) => html.replaceAll(/<[^>]*>/g, "")

/** Loads the tables of one server, by global ids. Sets of pairs are `from what`. */
export const load = Effect.fnUntraced(function*({ host, sql }: SimulatedServer) {
  // Uses the URI, as a handle may not be confirmed yet.
  const handle = (alias: string) =>
    sql.literal(`coalesce(substring(${alias}.uri from '/users/([^/]+)$') || '@' || split_part(${alias}.uri, '/', 3),
      ${alias}.username || '@' || coalesce(${alias}.domain, '${host}'))`)
  const uri = (status: string, author: string) =>
    sql.literal(
      `coalesce(${status}.uri, 'https://${host}/users/' || ${author}.username || '/statuses/' || ${status}.id)`
    )
  const pairs = Effect.fnUntraced(function*(table: string) {
    const rows = yield* sql<{ pair: string }>`SELECT ${handle("a")} || ' ' || ${handle("b")} AS pair
      FROM ${sql(table)} f JOIN accounts a ON a.id = f.account_id JOIN accounts b ON b.id = f.target_account_id`
    return new Set(rows.map(({ pair }) => pair))
  })
  const onPosts = Effect.fnUntraced(function*(table: string, more = "") {
    const rows = yield* sql<{ pair: string }>`SELECT ${handle("a")} || ' ' || ${uri("s", "b")} ${
      sql.literal(more)
    } AS pair
      FROM ${sql(table)} f JOIN accounts a ON a.id = f.account_id JOIN statuses s ON s.id = f.status_id
      JOIN accounts b ON b.id = s.account_id WHERE s.deleted_at IS NULL`
    return new Set(rows.map(({ pair }) => pair))
  })
  const rows = yield* sql<
    Omit<KnownStatus, "text" | "poll"> & { html: string; counts: ReadonlyArray<number> | null; voters: number | null }
  >`
    SELECT ${uri("s", "a")} AS uri, ${
    handle("a")
  } AS author, s.local, s.html, s.visibility, s.deleted_at IS NOT NULL AS deleted,
      CASE WHEN o.id IS NOT NULL THEN ${uri("o", "b")} END AS reblog_of, p.counts, p.voters_count AS voters,
      ARRAY(SELECT ${handle("m")} FROM mentions n JOIN accounts m ON m.id = n.account_id
        WHERE n.status_id = s.id AND NOT n.silent ORDER BY 1) AS mentions
    FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN statuses o ON o.id = s.reblog_of_id
    LEFT JOIN accounts b ON b.id = o.account_id LEFT JOIN polls p ON p.status_id = s.id ORDER BY s.id`
  const names = yield* sql<{ handle: string; name: string }>`SELECT ${
    handle("a")
  } AS handle, display_name AS name FROM accounts a`
  const misnamed = yield* sql<{ handle: string; shown: string }>`SELECT ${
    handle("a")
  } AS handle, username || '@' || domain AS shown
    FROM accounts a WHERE domain IS NOT NULL AND ${handle("a")} <> username || '@' || domain`
  return {
    host,
    misnamed: misnamed.map(({ handle, shown }) => `${handle} as ${shown}`),
    follows: yield* pairs("follows"),
    requests: yield* pairs("follow_requests"),
    blocks: yield* pairs("blocks"),
    favourites: yield* onPosts("favourites"),
    pins: yield* onPosts("status_pins"),
    votes: yield* onPosts("poll_votes", "|| ' ' || f.choice"),
    statuses: rows.map(({ counts, html, voters, ...row }): KnownStatus =>
      Object.assign(row, { text: words(html), poll: counts === null ? null : { counts, voters } })
    ),
    names: new Map(names.map(({ handle, name }) => [handle, name])),
    inbound: yield* sql<Inbound>`SELECT coalesce(a.uri, '') AS actor, i.uri, i.outcome, i.received_at
      FROM inbound_activities i JOIN accounts a ON a.id = i.account_id ORDER BY i.id`,
    notifications: yield* sql<{ what: string; times: number }>`
      SELECT n.type || ' to ' || ${handle("a")} || ' from ' || ${
      handle("b")
    } || ' about ' || n.status_id AS what, count(*)::int AS times
      FROM notifications n JOIN accounts a ON a.id = n.account_id JOIN accounts b ON b.id = n.from_account_id GROUP BY 1`,
    reports: yield* sql<{ what: string }>`SELECT ${handle("a")} || ' ' || r.comment AS what FROM reports r
      JOIN accounts a ON a.id = r.target_account_id ORDER BY 1`,
    waiting: yield* sql<{ what: string }>`SELECT 'a delivery of ' || a.type AS what FROM deliveries d
        JOIN outgoing_activities a ON a.id = d.activity_id
      UNION ALL SELECT 'the intent ' || kind FROM fanouts
      UNION ALL SELECT 'the errand ' || kind FROM errands
      UNION ALL SELECT 'the block of a domain' FROM agenda WHERE kind = 'domain_block'
      UNION ALL SELECT 'the activity ' || uri FROM inbound_activities WHERE outcome IS NULL`
  }
})

export type ServerState = Effect.Success<ReturnType<typeof load>>
