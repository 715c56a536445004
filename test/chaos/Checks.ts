import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Account } from "../cluster/Nodes.ts"
import { hasPage } from "../support/Requests.ts"
import type { Entry, Kind, Ledger } from "./Ledger.ts"
import type { NodeSlot } from "./Machines.ts"

/** A difference between the state and the responses. */
export interface Violation {
  readonly kind: "missing" | "duplicate" | "leftover" | "wrong"
  readonly text: string
  /** Time of the failed command, if known, in milliseconds since the run began. */
  readonly at: number | undefined
}

interface OpposedActions {
  readonly action: Kind
  readonly undo: Kind
  readonly rows: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<{ readonly pair: string }>, unknown>
}

const opposedActions: ReadonlyArray<OpposedActions> = [
  {
    action: "favourite",
    undo: "unfavourite",
    rows: (sql) => sql`SELECT account_id || ' ' || status_id AS pair FROM favourites`
  },
  {
    action: "bookmark",
    undo: "unbookmark",
    rows: (sql) => sql`SELECT account_id || ' ' || status_id AS pair FROM bookmarks`
  },
  {
    action: "reblog",
    undo: "unreblog",
    rows: (sql) =>
      sql`SELECT account_id || ' ' || reblog_of_id AS pair FROM statuses
        WHERE reblog_of_id IS NOT NULL AND deleted_at IS NULL`
  },
  {
    action: "follow",
    undo: "unfollow",
    rows: (sql) => sql`SELECT account_id || ' ' || target_account_id AS pair FROM follows`
  }
]

const describe = ({ attempts, kind }: Entry) =>
  `${kind} (${
    attempts.map(({ began, ended, slot, status }) =>
      `${status} at ${slot} from ${(began / 1_000).toFixed(1)} to ${(ended / 1_000).toFixed(1)} s`
    ).join(", ")
  })`

/** Describes a failure, with all commands about the same target. */
const describeFailure = (ledger: Ledger, entry: Entry) =>
  `${entry.kind} ${entry.target} by ${entry.by}: ${ledger.historyOf(entry).map(describe).join("; ")}`

/** Checks that acknowledged effects exist once, and undone ones do not. */
const checkEffects = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, ledger: Ledger) {
    const broken: Array<Violation> = []
    const rows = yield* sql<{ id: bigint; text: string; deleted: boolean }>`
      SELECT id, text, deleted_at IS NOT NULL AS deleted FROM statuses WHERE reblog_of_id IS NULL`
    const byId = new Map(rows.map((row) => [String(row.id), row]))
    const deletions = ledger.lastOf(["delete"])
    const deletionOf = (by: string, id: string | undefined) => deletions.get(`${by} ${id}`)
    const ids = new Set<string>()
    for (const entry of ledger.entries) {
      if (entry.kind !== "post" || entry.id === undefined) continue
      if (ids.has(entry.id)) {
        broken.push({ kind: "wrong", text: `two posts got the id ${entry.id}`, at: entry.began })
      }
      ids.add(entry.id)
      const row = byId.get(entry.id)
      const deletion = deletionOf(entry.by, entry.id)
      if (row === undefined || (row.deleted && deletion === undefined)) {
        broken.push({ kind: "missing", text: describeFailure(ledger, entry), at: entry.began })
      }
      if (deletion?.outcome === "done" && row?.deleted === false) {
        broken.push({ kind: "leftover", text: describeFailure(ledger, deletion), at: deletion.began })
      }
    }
    const sent = new Set(ledger.entries.flatMap(({ id, kind }) => kind === "post" && id !== undefined ? id : []))
    const unknown = ledger.entries.filter(({ kind, outcome }) => kind === "post" && outcome === "unknown").length
    const unknownPosts = rows.filter(({ id }) => !sent.has(String(id)))
    if (unknownPosts.length > unknown) {
      broken.push({ kind: "duplicate", text: `${unknownPosts.length} posts without a response`, at: undefined })
    }
    for (const entry of ledger.lastOf(["edit"]).values()) {
      const row = byId.get(entry.target)
      if (entry.outcome === "done" && row !== undefined && !row.deleted && row.text !== entry.text) {
        broken.push({ kind: "missing", text: describeFailure(ledger, entry), at: entry.began })
      }
    }
    const deletedIds = new Set(rows.flatMap(({ deleted, id }) => deleted ? String(id) : []))
    for (const { action, rows, undo } of opposedActions) {
      const existing = new Set((yield* rows(sql)).map(({ pair }) => pair))
      const last = ledger.lastOf([action, undo])
      for (const [pair, entry] of last) {
        if (entry.outcome !== "done" || deletedIds.has(entry.target)) continue
        const at = entry.began
        if (entry.kind === action && !existing.has(pair)) {
          broken.push({ kind: "missing", text: describeFailure(ledger, entry), at })
        }
        if (entry.kind === undo && existing.has(pair)) {
          broken.push({ kind: "leftover", text: describeFailure(ledger, entry), at })
        }
      }
      for (const pair of existing) {
        // An action on a post deleted at the same time may get the response for a missing post.
        if (!last.has(pair) && !deletedIds.has(pair.split(" ")[1] ?? "")) {
          broken.push({ kind: "wrong", text: `${action} ${pair} was never requested`, at: undefined })
        }
      }
    }
    return broken
  }
)

/** Finds rows that must not exist. */
const forbiddenRows = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const rows = yield* sql<{ kind: Violation["kind"]; text: string }>`
    SELECT 'leftover' AS kind, 'a notification of the deleted post ' || n.status_id || ' (' || n.type || ')' AS text
      FROM notifications n JOIN statuses s ON s.id = n.status_id WHERE s.deleted_at IS NOT NULL
    UNION ALL SELECT 'leftover', 'a notification of the favourite ' || n.from_account_id || ' ' || n.status_id
      FROM notifications n WHERE n.type = 'favourite' AND NOT EXISTS (SELECT FROM favourites f
        WHERE f.account_id = n.from_account_id AND f.status_id = n.status_id)
    UNION ALL SELECT 'leftover', 'a notification of the reblog ' || n.from_account_id || ' ' || n.status_id
      FROM notifications n WHERE n.type = 'reblog' AND NOT EXISTS (SELECT FROM statuses f
        WHERE f.account_id = n.from_account_id AND f.reblog_of_id = n.status_id AND f.deleted_at IS NULL)
    UNION ALL SELECT 'leftover', 'a notification of the follow ' || n.from_account_id || ' ' || n.account_id
      FROM notifications n WHERE n.type = 'follow' AND NOT EXISTS (SELECT FROM follows f
        WHERE f.account_id = n.from_account_id AND f.target_account_id = n.account_id)
    UNION ALL SELECT 'duplicate', 'a notification of ' || type || ' ' || from_account_id || ' ' || coalesce(status_id, 0)
      FROM notifications GROUP BY account_id, type, from_account_id, status_id HAVING count(*) > 1
    UNION ALL SELECT 'wrong', 'a counter of the account ' || s.account_id FROM account_stats s WHERE
      followers_count <> (SELECT count(*) FROM follows f WHERE f.target_account_id = s.account_id)
      OR following_count <> (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id)
      OR statuses_count <> (SELECT count(*) FROM statuses t WHERE t.account_id = s.account_id AND t.deleted_at IS NULL)
    UNION ALL SELECT 'wrong', 'a counter of the status ' || s.status_id FROM status_stats s WHERE
      favourites_count <> (SELECT count(*) FROM favourites f WHERE f.status_id = s.status_id)
      OR reblogs_count <> (SELECT count(*) FROM statuses t WHERE t.reblog_of_id = s.status_id AND t.deleted_at IS NULL)
    UNION ALL SELECT 'leftover', 'the intent ' || kind || ' of ' || account_id FROM fanouts`
  return rows.map(({ text, kind }): Violation => ({ kind, text, at: undefined }))
})

/** Finds events that one stream received twice. */
const duplicateEvents = ({ events }: Ledger) => {
  const seen = new Set<string>()
  const broken: Array<Violation> = []
  for (const { target, at, by, connection, event } of events) {
    const name = `${by} ${connection} ${event} ${target}`
    if (seen.has(name) && event !== "conversation") {
      broken.push({ kind: "duplicate", text: `the event ${event} ${target} for ${by}`, at })
    }
    seen.add(name)
  }
  return broken
}

/** Returns all ids of a user's home on a node, page by page; undefined if a page is refused. */
const homeOf = async ({ baseUrl }: NodeSlot, { token }: Account) => {
  const seen: Array<string> = []
  for (let path = "/api/v1/timelines/home?limit=40"; path !== "";) {
    const asked = fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } })
    const response = await asked.catch(() => undefined)
    if (response === undefined || !hasPage(response.status)) return undefined
    const found = (await response.json() as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
    seen.push(...found)
    path = found.length === 0 ? "" : `/api/v1/timelines/home?limit=40&max_id=${found.at(-1)}`
  }
  return seen
}

/** Checks that each home has the posts of the accounts that its owner follows, once and in order, on every node. */
const checkHomes = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, slots: ReadonlyArray<NodeSlot>, people: ReadonlyArray<Account>) {
    const broken: Array<Violation> = []
    for (const person of people) {
      const rows = yield* sql<{ id: bigint }>`SELECT s.id FROM statuses s LEFT JOIN statuses o ON o.id = s.reblog_of_id
        WHERE s.deleted_at IS NULL AND o.deleted_at IS NULL AND s.visibility = 'public' AND s.reblog_of_id IS NULL
          AND (s.account_id = ${person.id} OR s.account_id IN
            (SELECT target_account_id FROM follows WHERE account_id = ${person.id})) ORDER BY s.id DESC`
      const boosts = new Set((yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE reblog_of_id IS NOT NULL`)
        .map(({ id }) => String(id)))
      for (const slot of slots) {
        const seen = yield* Effect.promise(() => homeOf(slot, person))
        const name = `the home of ${person.username} on ${slot.name}`
        if (seen === undefined) {
          broken.push({ kind: "wrong", text: `${name} is refused`, at: undefined })
          continue
        }
        if (new Set(seen).size < seen.length) {
          broken.push({ kind: "duplicate", text: `a post in ${name}`, at: undefined })
        }
        const posts = seen.filter((id) => !boosts.has(id))
        const missing = rows.filter(({ id }) => !posts.includes(String(id)))
        const unexpected = posts.filter((id) => !rows.some((row) => String(row.id) === id))
        if (missing.length > 0) {
          broken.push({ kind: "missing", text: `${missing.length} posts in ${name}`, at: undefined })
        }
        if (unexpected.length > 0) {
          broken.push({ kind: "leftover", text: `${unexpected.length} posts in ${name}`, at: undefined })
        }
      }
    }
    return broken
  }
)

/** Returns all differences between the state and the responses. */
export const check = Effect.fnUntraced(function*(
  { ledger, people, slots, sql }: {
    readonly sql: SqlClient.SqlClient
    readonly ledger: Ledger
    readonly slots: ReadonlyArray<NodeSlot>
    readonly people: ReadonlyArray<Account>
  }
) {
  return [
    ...(yield* checkEffects(sql, ledger)),
    ...(yield* forbiddenRows(sql)),
    ...duplicateEvents(ledger),
    ...(yield* checkHomes(sql, slots, people))
  ]
})
