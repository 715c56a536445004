import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsMax } from "../../Paging.ts"
import { idRows, rowsOf } from "../../Rows.ts"
import { normalizeDomain, unknownDomain } from "../DomainNames.ts"
import { type DomainLists, type DomainPolicy, policyOfAll } from "./DomainPolicy.ts"

/** An account by what rules speak of: the domain of its handle and the host of its actor. */
const DomainAccount = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String)
})
type DomainAccount = typeof DomainAccount.Type
const namedRows = rowsOf(DomainAccount.mapFields(Struct.pick(["domain", "uri"])))
const takenRows = rowsOf(Schema.Struct({ ...DomainAccount.fields, key: Schema.String }))

/** A host as rules name it; one that is no domain, as in a lab, by its own name. */
export const hostName = (host: string): string => normalizeDomain(host) ?? host.toLowerCase()

/** The hosts whose rules an account is under. */
export const hostsOf = ({ domain, uri }: Pick<DomainAccount, "domain" | "uri">): ReadonlyArray<string> => {
  const host = uri === null ? undefined : URL.parse(uri)?.host
  const found = [domain, host].flatMap((name) => name === unknownDomain ? [] : name ?? [])
  return [...new Set(found.map(hostName))]
}

/** The next accounts at or below a domain, after the cursor: by their handles (phase 0), then by their actors' hosts. */
export const take = (
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
  const there = sql.literal(phase === 0 ? "domain IS NOT NULL" : "uri IS NOT NULL")
  const key = sql`(domain_key(${name}) COLLATE "C")`
  const whole = sql`domain_key(${domain})`
  // A rule with a port is about that port alone.
  const exact = /:\d+$/.test(domain) ? sql`lower(${name}) = ${domain}` : sql`true`
  return takenRows(sql`
    SELECT id, domain, uri, ${key} AS key FROM accounts
    WHERE ${there} AND (${key}, id) > (greatest(${cursorKey}::text, ${whole} COLLATE "C"), ${cursorId}::bigint)
      AND ${key} < ${whole} || '/' COLLATE "C" AND (${key} = ${whole} OR starts_with(${key}, ${whole} || '.')) AND ${exact}
    ORDER BY ${key}, id LIMIT ${rowsMax(sql, rows)}`)
}

/**
 * Writes what rules about domains mean for accounts. Takes back what a rule did that no rule says any more; answers the
 * ids of those that changed. Actions of moderators and of the accounts' own servers stay.
 */
export const apply = (
  sql: SqlClient.SqlClient,
  wanted: ReadonlyArray<{ readonly id: bigint; readonly policy: DomainPolicy }>,
  at: Date
) =>
  Effect.map(
    idRows(sql`
      UPDATE accounts a SET
        suspended_at = CASE WHEN w.suspend THEN coalesce(a.suspended_at, ${at})
          WHEN a.suspended_by_domain THEN NULL ELSE a.suspended_at END,
        suspended_by_domain = w.suspend AND (a.suspended_by_domain OR a.suspended_at IS NULL),
        silenced_at = CASE WHEN w.silence THEN coalesce(a.silenced_at, ${at})
          WHEN a.silenced_by_domain THEN NULL ELSE a.silenced_at END,
        silenced_by_domain = w.silence AND (a.silenced_by_domain OR a.silenced_at IS NULL),
        media_rejected = w.media
      FROM unnest(${wanted.map(({ id }) => id)}::bigint[], ${wanted.map(({ policy }) => !policy.allowed)}::boolean[],
        ${wanted.map(({ policy }) => policy.severity === "silence")}::boolean[],
        ${wanted.map(({ policy }) => policy.rejectMedia)}::boolean[]) AS w (id, suspend, silence, media)
      WHERE a.id = w.id AND ((w.suspend AND a.suspended_at IS NULL) OR (NOT w.suspend AND a.suspended_by_domain)
        OR (w.silence AND a.silenced_at IS NULL) OR (NOT w.silence AND a.silenced_by_domain)
        OR w.media <> a.media_rejected)
      RETURNING a.id`),
    (rows) => rows.map(({ id }) => id)
  )

/** Applies the rules about its domain to one account. */
export const applyTo = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, lists: DomainLists, id: bigint, at: Date) {
    const [named] = yield* namedRows(sql`SELECT domain, uri FROM accounts WHERE id = ${id}`)
    const policy = policyOfAll(lists, named === undefined ? [] : hostsOf(named))
    if (policy.allowed && policy.severity === "noop" && !policy.rejectMedia) return
    yield* apply(sql, [{ id, policy }], at)
  }
)
