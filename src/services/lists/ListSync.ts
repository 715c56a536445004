import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { DomainAllows } from "../federation/domains/DomainAllows.ts"
import { DomainBlocks } from "../federation/domains/DomainBlocks.ts"
import { DomainBlock } from "../federation/domains/DomainPolicy.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import type { ListReading } from "./FiresDataset.ts"
import { decide, severityOf } from "./ListDecision.ts"
import { ListDocuments } from "./ListDocuments.ts"
import * as ListEntries from "./ListEntries.ts"
import { FollowedList } from "./ListEntries.ts"
import { ListAction, ListEntry } from "./ListEntry.ts"
import type { ModerationList } from "./ModerationLists.ts"

/** Period between syncs of a list, and delay after a failure, in milliseconds. */
const syncMillis = 86_400_000
const failedMillis = 3_600_000
/** Duration of a claim, in milliseconds: longer than a sync takes. */
export const claimMillis = 30 * 60_000
/** Domains that one transaction decides about. */
const sliceDomainsMax = 100

const listRows = rowsOf(FollowedList)
const factRows = rowsOf(Schema.Struct({
  domain: Schema.String,
  winnerId: Schema.NullOr(Schema.BigInt),
  action: Schema.NullOr(ListAction),
  ...Schema.Struct({
    rejectMedia: Schema.NullOr(ListEntry.fields.rejectMedia),
    rejectReports: Schema.NullOr(ListEntry.fields.rejectReports),
    obfuscate: Schema.NullOr(ListEntry.fields.obfuscate)
  }).fields,
  publicComment: Schema.NullOr(Schema.String),
  severity: Schema.NullOr(DomainBlock.fields.severity),
  allowed: Schema.Boolean,
  ruleListId: Schema.NullOr(Schema.BigInt),
  followed: Schema.Boolean
}))
type Facts = Effect.Success<ReturnType<typeof factRows>>[number]

/** Reading of a list that is no longer followed. */
const nothing: ListReading = { isComplete: true, entries: [], cursor: null }

/** Number of changes that a sync made. */
interface Tally {
  readonly put: number
  readonly moved: number
  readonly lifted: number
  readonly suggested: number
}

/**
 * Applies the lists that staff follow to this server's domain rules (`decide`); each step is logged with its origin.
 */
export class ListSync extends Context.Service<ListSync, {
  /** Syncs one list that is due; false if none is. Only one node syncs a list. */
  readonly step: Effect.Effect<boolean, SqlError>
}>()("murmuration/services/lists/ListSync") {
  static readonly layer = Layer.effect(ListSync, Effect.suspend(() => make)).pipe(
    Layer.provide([AuditLog.layer, DomainAllows.layer, DomainBlocks.layer, ListDocuments.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const allows = yield* DomainAllows
  const audit = yield* AuditLog
  const blocks = yield* DomainBlocks
  const documents = yield* ListDocuments
  const keep = ListEntries.make(sql)
  const { limitedFederation: limited } = yield* ServerConfig

  /** Condition: an entry counts in this federation mode. */
  const counts = limited ? sql`e.action = 'accept'` : sql`e.action <> 'accept'`
  const rules = sql.literal(limited ? "domain_allows" : "domain_blocks")

  const claim = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const [list] = yield* listRows(sql`UPDATE moderation_lists SET due_at = ${new Date(now + claimMillis)}
      WHERE id = (SELECT id FROM moderation_lists WHERE due_at <= ${new Date(now)} ORDER BY due_at LIMIT 1
        FOR UPDATE SKIP LOCKED) RETURNING *`)
    return list
  })

  /** Returns the next domains that the list names or has a rule about. */
  const slice = (listId: bigint, after: string) =>
    factRows(sql`
      WITH named AS (
        SELECT domain FROM (
          (SELECT domain FROM moderation_list_entries WHERE list_id = ${listId} AND domain > ${after}
            ORDER BY domain LIMIT ${rowsMax(sql, sliceDomainsMax)})
          UNION (SELECT domain FROM ${rules} WHERE list_id = ${listId} AND domain > ${after}
            ORDER BY domain LIMIT ${rowsMax(sql, sliceDomainsMax)})) both_of ORDER BY domain LIMIT ${
      rowsMax(sql, sliceDomainsMax)
    })
      SELECT n.domain, w.list_id AS winner_id, w.action, w.reject_media, w.reject_reports, w.public_comment, w.obfuscate,
        b.severity, al.id IS NOT NULL AS allowed, ${limited ? sql`al.list_id` : sql`b.list_id`} AS rule_list_id,
        EXISTS (SELECT FROM accounts a JOIN follows f ON f.target_account_id = a.id
          JOIN users u ON u.account_id = f.account_id WHERE a.domain IS NOT NULL
            AND (domain_key(a.domain) COLLATE "C") >= domain_key(n.domain) COLLATE "C"
            AND (domain_key(a.domain) COLLATE "C") < domain_key(n.domain) || '/' COLLATE "C"
            AND ((domain_key(a.domain) COLLATE "C") = domain_key(n.domain)
              OR starts_with(domain_key(a.domain), domain_key(n.domain) || '.'))) AS followed
      FROM named n
      LEFT JOIN LATERAL (SELECT e.* FROM moderation_list_entries e JOIN moderation_lists l ON l.id = e.list_id
        WHERE e.domain = n.domain AND ${counts} AND l.ended_at IS NULL ORDER BY l.priority DESC, l.id LIMIT 1) w ON TRUE
      LEFT JOIN domain_blocks b ON b.domain = n.domain LEFT JOIN domain_allows al ON al.domain = n.domain
      ORDER BY n.domain`)

  const put = (facts: Facts, action: ListAction, listId: bigint) => {
    const severity = severityOf(action)
    return severity === "allow"
      ? Effect.andThen(
        allows.allow(facts.domain, { listId, confirmed: true }),
        () => tracked("domains")(sql`UPDATE domain_allows SET list_id = ${listId} WHERE domain = ${facts.domain}`)
      )
      : blocks.block(facts.domain, {
        severity,
        rejectMedia: facts.rejectMedia ?? undefined,
        rejectReports: facts.rejectReports ?? undefined,
        publicComment: facts.publicComment,
        obfuscate: facts.obfuscate ?? undefined,
        listId,
        // Hosts of communities are public suffixes, too, but staff chose the list.
        confirmed: true
      })
  }

  const suggest = (domain: string, action: ListAction | "retract", listId: bigint, now: number) =>
    sql`INSERT INTO moderation_suggestions (id, domain, action, state, list_id, created_at)
      VALUES (next_id(${now}), ${domain}, ${action}, 'new', ${listId}, ${new Date(now)})
      ON CONFLICT (domain, action) DO UPDATE SET list_id = excluded.list_id, state = 'new'
        WHERE moderation_suggestions.state = 'applied'
      RETURNING 1`

  const factsOf = (facts: Facts) => {
    const severity = limited ? (facts.allowed ? "allow" as const : undefined) : facts.severity ?? undefined
    return {
      winner: facts.winnerId === null || facts.action === null
        ? undefined
        : { listId: facts.winnerId, action: facts.action },
      currentRule: severity === undefined ? undefined : { severity, listId: facts.ruleListId },
      followed: facts.followed
    }
  }

  const apply = Effect.fnUntraced(function*(list: ModerationList, facts: Facts, now: number) {
    const decision = decide(list, factsOf(facts))
    switch (decision.type) {
      case "nothing":
        return undefined
      case "put":
        yield* put(facts, decision.action, list.id)
        yield* sql`UPDATE moderation_suggestions SET state = 'applied' WHERE domain = ${facts.domain} AND state = 'new'`
        return "put"
      case "move":
        yield* put(facts, decision.action, decision.to)
        return "moved"
      case "lift":
        yield* limited ? allows.disallow(facts.domain) : blocks.unblock(facts.domain)
        return "lifted"
      case "suggest":
        return (yield* suggest(facts.domain, decision.action, list.id, now)).length > 0 ? "suggested" : undefined
    }
  })

  const follow = Effect.fnUntraced(function*(list: ModerationList) {
    const tally = { put: 0, moved: 0, lifted: 0, suggested: 0 }
    let after: string | undefined = ""
    while (after !== undefined) {
      const from: string = after
      const now = yield* Clock.currentTimeMillis
      const done = yield* transaction(sql)(Effect.gen(function*() {
        const rows = yield* slice(list.id, from)
        const results = yield* Effect.forEach(rows, (facts) => apply(list, facts, now))
        return { last: rows.length < sliceDomainsMax ? undefined : rows.at(-1)?.domain, results }
      }))
      for (const result of done.results) if (result !== undefined) tally[result]++
      after = done.last
      yield* Effect.yieldNow
    }
    return tally
  })

  const finish = (list: FollowedList, tally: Tally, error: string | null) =>
    transaction(sql)(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const changed = Object.values(tally).some((count) => count > 0)
      if (changed || error !== list.error) {
        yield* audit.record({
          by: undefined,
          action: "sync",
          target: { type: "moderationList", id: list.id, label: list.name },
          after: { ...tally, error }
        })
      }
      // Withdraws suggestions that the list no longer has.
      yield* sql`DELETE FROM moderation_suggestions s WHERE list_id = ${list.id} AND action <> 'retract' AND state = 'new'
        AND ${error === null} AND NOT EXISTS (SELECT FROM moderation_list_entries e
          WHERE e.list_id = ${list.id} AND e.domain = s.domain AND e.action = s.action)`
      // A sync may have been requested again in the meantime.
      if (list.endedAt === null) {
        yield* sql`UPDATE moderation_lists SET error = ${error},
          synced_at = CASE WHEN ${error === null} THEN ${new Date(now)}::timestamptz ELSE synced_at END,
          due_at = CASE WHEN due_at = ${list.dueAt} THEN ${new Date(
          now + (error === null ? syncMillis : failedMillis)
        )}::timestamptz ELSE due_at END WHERE id = ${list.id}`
      } else {
        yield* sql`DELETE FROM moderation_lists WHERE id = ${list.id}
          AND NOT EXISTS (SELECT FROM moderation_suggestions WHERE list_id = ${list.id} AND state = 'new')`
      }
    }))

  const sync = Effect.fnUntraced(function*(list: FollowedList) {
    const { changesFrom, endedAt, wholeAt } = list
    const cursor = changesFrom === null || wholeAt === null
      ? undefined
      : { url: changesFrom, wholeAt: wholeAt.getTime() }
    const read = endedAt === null ? documents.fetch(list, cursor) : Effect.succeed(nothing)
    const outcome = yield* Effect.result(Effect.flatMap(read, (reading) => keep(list, reading)))
    const none: Tally = { put: 0, moved: 0, lifted: 0, suggested: 0 }
    if (outcome._tag === "Failure") {
      const { failure } = outcome
      // A list that cannot be read keeps its entries.
      return yield* failure._tag === "SqlError" ? failure : finish(list, none, failure.why)
    }
    yield* finish(list, yield* Effect.orDie(follow(list)), null)
  })

  return ListSync.of({
    step: Effect.gen(function*() {
      const list = yield* claim
      if (list === undefined) return false
      yield* sync(list)
      return true
    }).pipe(Effect.withSpan("ListSync.step"))
  })
})
