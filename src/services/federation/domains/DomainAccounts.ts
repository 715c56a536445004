import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import type { RowWriter } from "../../database/CachedTables.ts"
import { rowsMax } from "../../database/Paging.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { normalizeDomain, unknownDomain } from "../DomainNames.ts"
import { type DomainLists, type DomainPolicy, policyOfAll } from "./DomainPolicy.ts"

/** Account as rules see it: the domain of its handle and the host of its actor. */
const DomainAccount = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String)
})
type DomainAccount = typeof DomainAccount.Type
const namedRows = rowsOf(DomainAccount.mapFields(Struct.pick(["domain", "uri"])))
const takenRows = rowsOf(Schema.Struct({ ...DomainAccount.fields, key: Schema.String }))

/** Returns a host as rules name it. A host that is not a domain, as in a test setup, keeps its name. */
export const hostName = (host: string): string => normalizeDomain(host) ?? host.toLowerCase()

/** Returns the hosts whose rules apply to an account. */
export const hostsOf = ({ domain, uri }: Pick<DomainAccount, "domain" | "uri">): ReadonlyArray<string> => {
  const host = uri === null ? undefined : URL.parse(uri)?.host
  const found = [domain, host].flatMap((name) => name === unknownDomain ? [] : name ?? [])
  return [...new Set(found.map(hostName))]
}

/**
 * Returns the next accounts at or below a domain, after the cursor: by their handles (phase 0), then by their actors'
 * hosts.
 */
export const nextAccounts = (
  sql: SqlClient.SqlClient,
  { cursorId, cursorKey, domain, phase }: {
    readonly domain: string
    readonly phase: number
    readonly cursorKey: string
    readonly cursorId: bigint
  },
  rows: number
) => {
  const name = sql.literal(phase === 0 ? "domain" : "uri_host(uri)")
  const hasColumn = sql.literal(phase === 0 ? "domain IS NOT NULL" : "uri IS NOT NULL")
  const key = sql`(domain_key(${name}) COLLATE "C")`
  const domainKey = sql`domain_key(${domain})`
  // A rule with a port applies only to that port.
  const exact = /:\d+$/.test(domain) ? sql`lower(${name}) = ${domain}` : sql`true`
  return takenRows(sql`
    SELECT id, domain, uri, ${key} AS key FROM accounts
    WHERE ${hasColumn} AND (${key}, id) > (greatest(${cursorKey}::text, ${domainKey} COLLATE "C"), ${cursorId}::bigint)
      AND ${key} < ${domainKey} || '/' COLLATE "C" AND (${key} = ${domainKey} OR starts_with(${key}, ${domainKey} || '.')) AND ${exact}
    ORDER BY ${key}, id LIMIT ${rowsMax(sql, rows)}`)
}

/**
 * Applies domain rules to accounts, and reverts effects of rules that no longer exist. Returns the ids of changed
 * accounts. Actions of moderators and of the accounts' own servers are kept.
 */
export const apply = (
  { sql, tracked }: RowWriter,
  accounts: ReadonlyArray<{ readonly id: bigint; readonly policy: DomainPolicy }>,
  at: Date
) =>
  Effect.map(
    tracked("account", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
      tracked("moderation", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(idRows(sql`
      UPDATE accounts a SET
        suspended_at = CASE WHEN w.suspend THEN coalesce(a.suspended_at, ${at})
          WHEN a.suspended_by_domain THEN NULL ELSE a.suspended_at END,
        suspended_by_domain = w.suspend AND (a.suspended_by_domain OR a.suspended_at IS NULL),
        silenced_at = CASE WHEN w.silence THEN coalesce(a.silenced_at, ${at})
          WHEN a.silenced_by_domain THEN NULL ELSE a.silenced_at END,
        silenced_by_domain = w.silence AND (a.silenced_by_domain OR a.silenced_at IS NULL),
        media_rejected = w.media
      FROM unnest(${accounts.map(({ id }) => id)}::bigint[], ${
        accounts.map(({ policy }) => !policy.allowed)
      }::boolean[],
        ${accounts.map(({ policy }) => policy.severity === "silence")}::boolean[],
        ${accounts.map(({ policy }) => policy.rejectMedia)}::boolean[]) AS w (id, suspend, silence, media)
      WHERE a.id = w.id AND ((w.suspend AND a.suspended_at IS NULL) OR (NOT w.suspend AND a.suspended_by_domain)
        OR (w.silence AND a.silenced_at IS NULL) OR (NOT w.silence AND a.silenced_by_domain)
        OR w.media <> a.media_rejected)
      RETURNING a.id`))
    ),
    (rows) => rows.map(({ id }) => id)
  )

/** Applies the rules about an account's domain to that account. */
export const applyTo = Effect.fnUntraced(
  function*(writer: RowWriter, lists: DomainLists, id: bigint, at: Date) {
    const [named] = yield* namedRows(writer.sql`SELECT domain, uri FROM accounts WHERE id = ${id}`)
    const policy = policyOfAll(lists, named === undefined ? [] : hostsOf(named))
    if (policy.allowed && policy.severity === "noop" && !policy.rejectMedia) return
    yield* apply(writer, [{ id, policy }], at)
  }
)
