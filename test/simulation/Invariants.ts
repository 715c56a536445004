import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import type { HomeTimelines } from "../../src/services/feeds/HomeTimelines.ts"
import type { ListTimelines } from "../../src/services/feeds/ListTimelines.ts"
import { defaultResponseSeconds } from "../../src/services/runtime/ResponseSeconds.ts"
import type { Requests } from "./ConsentPlan.ts"
import * as Consents from "./Consents.ts"
import * as Dismissals from "./Dismissals.ts"
import * as Facts from "./Facts.ts"
import * as Homes from "./Homes.ts"
import type { List } from "./Lists.ts"
import * as MediaInvariants from "./MediaInvariants.ts"
import { Model } from "./Model.ts"
import * as NotificationInvariants from "./NotificationInvariants.ts"
import type { Performed } from "./Performed.ts"
import * as Phones from "./Phones.ts"
import * as PollEnds from "./PollEnds.ts"
import * as PostLimits from "./PostLimits.ts"
import * as ReadPaths from "./ReadPaths.ts"
import * as Reports from "./Reports.ts"
import * as Reviews from "./Reviews.ts"
import { commandIdOf, type Outcome } from "./Scenario.ts"
import * as SpamRules from "./SpamRules.ts"
import * as SuspensionChecks from "./SuspensionChecks.ts"
import * as TransferInvariants from "./TransferInvariants.ts"
import type { Shared, World } from "./World.ts"

/** State of a run at rest. */
export interface Aftermath {
  readonly world: World
  readonly shared: Shared
  /** Services that read homes and lists on a live node. */
  readonly homes: HomeTimelines["Service"]
  readonly listTimelines: ListTimelines["Service"]
  /** Lists that exist before any command. */
  readonly lists: ReadonlyArray<List>
  readonly people: ReadonlyArray<AccountId>
  readonly locked: ReadonlySet<bigint>
  /** Follows that exist before any command. */
  readonly followers: ReadonlySet<string>
  readonly outcomes: ReadonlyArray<Outcome>
  /** Interactions that waited for consent. */
  readonly requests: Requests
  /** Outcomes of commands that were repeated at rest, with the later results. */
  readonly again: ReadonlyArray<Outcome & { readonly later: Outcome["result"] }>
}

/** Maximum deviation of an id's time from the true time, in milliseconds. */
const idMillisOff = 10_000
/** Maximum difference between the clocks of two nodes, in milliseconds. */
const clockMillisOff = 3_000

/**
 * Returns broken invariants, by their names in the project's list: I1 no accepted post lost, I2 one status per key ...
 */
export const check = Effect.fnUntraced(function*(aftermath: Aftermath) {
  const { outcomes, shared: { sql }, world } = aftermath
  const now = world.time.now
  const facts = yield* Facts.load(sql, now)
  const performed = yield* sql<Performed>`SELECT * FROM performed ORDER BY seq`
  const commandOf = new Map([
    ...outcomes.map((outcome) => [commandIdOf(outcome), outcome.command] as const),
    ...[...world.transfers.commands].map(([id, { command }]) => [id, command] as const)
  ])
  const model = new Model(
    aftermath.followers,
    aftermath.locked,
    aftermath.lists,
    SpamRules.actionOf(world.seed) === "limit"
  )
  for (const entry of performed) {
    const command = entry.commandId === null ? undefined : commandOf.get(entry.commandId)
    if (command !== undefined) model.perform(entry, command)
  }
  return [
    ...world.wrong,
    ...responses(aftermath, performed),
    ...late(aftermath, performed),
    ...model.differences(facts, now).map((text) => `I1, I2, I10: ${text}`),
    ...(yield* owners(sql, performed)),
    ...ids(performed, commandOf),
    ...(yield* Homes.check(aftermath, facts)),
    ...NotificationInvariants.check(aftermath, facts),
    ...(yield* Phones.check(aftermath, facts)),
    ...(yield* ReadPaths.check(aftermath, facts, model)),
    ...(yield* Reports.check(aftermath, facts, performed, commandOf)),
    ...(yield* SpamRules.check(aftermath, performed, commandOf)),
    ...(yield* Reviews.check(aftermath, facts, performed, commandOf)),
    ...(yield* Dismissals.check(world, aftermath.shared)),
    ...(yield* PostLimits.check(world, aftermath.shared)),
    ...(yield* counters(sql)),
    ...(yield* severed(sql)),
    ...(yield* leftovers(sql, now)),
    ...(world.withTransfers ? yield* TransferInvariants.check(world, aftermath.shared, performed) : []),
    ...(world.media ? yield* MediaInvariants.check(world, aftermath.shared) : []),
    ...(world.withConsents ? yield* checkConsents(aftermath, facts, performed, commandOf) : [])
  ]
})

/** Checks the invariants of consent, polls and moderation. */
const checkConsents = Effect.fnUntraced(function*(
  aftermath: Aftermath,
  facts: Facts.Facts,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  return [
    ...(yield* Consents.check(aftermath, facts, performed, commandOf)),
    ...(yield* PollEnds.check(aftermath, facts, performed, commandOf)),
    ...(yield* SuspensionChecks.check(aftermath, performed, commandOf))
  ]
})

/** I1: an acknowledged command was done. I2: no command was done twice, and a repeated key gets the same result. */
const responses = ({ again, outcomes }: Aftermath, performed: ReadonlyArray<Performed>): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const byId = Map.groupBy(performed, ({ commandId }) => commandId)
  // A refusal is not recorded: a repeated command may succeed.
  const doneLater = new Set(again.filter(({ later }) => typeof later === "object" && "id" in later).map(commandIdOf))
  for (const outcome of outcomes) {
    const id = commandIdOf(outcome)
    const done = byId.get(id) ?? []
    const { result } = outcome
    if (done.length > 1) broken.push(`I2: ${id} was executed ${done.length} times`)
    if (typeof result === "string") continue
    const isRefused = done.every(({ resultId }) => resultId === String(SpamRules.ruleId))
    if ("error" in result && !isRefused && done.length > 0 && !doneLater.has(id) && !outcome.timedOut) {
      broken.push(`I2: ${id} was refused with ${result.error}, but executed`)
    }
    if ("id" in result && done[0]?.resultId !== result.id) {
      broken.push(`I1: ${id} got the response ${result.id}, but was not executed`)
    }
  }
  for (const outcome of again) {
    const { later, result } = outcome
    const [before, after] = [result, later].map((known) =>
      typeof known === "string" || "error" in known ? "" : known.id
    )
    if (later === "unknown") broken.push(`I2: ${commandIdOf(outcome)} got no response at rest`)
    if (before !== "" && after !== before) broken.push(`I2: ${commandIdOf(outcome)} returned ${before}, later ${after}`)
  }
  return broken
}

/** I2: a command does not start after its client got 503 because of its deadline. */
const late = ({ again, outcomes }: Aftermath, performed: ReadonlyArray<Performed>): ReadonlyArray<string> => {
  const asked = new Map([...outcomes, ...again].map((outcome) => [commandIdOf(outcome), outcome.askedAt]))
  return performed.flatMap(({ beganAt, commandId }) => {
    const times = commandId === null ? undefined : asked.get(commandId)
    const waited = times?.map((at) => beganAt.getTime() - at).filter((millis) => millis >= 0)
    return waited === undefined || waited.some((millis) => millis <= defaultResponseSeconds * 1_000 + clockMillisOff)
      ? []
      : [`I2: ${commandId} began ${Math.min(...waited)} ms after its request, when the client had got 503`]
  })
}

/** I13: one owner at a time, in commit order, and every committed command recorded its result. */
export const owners = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, performed: ReadonlyArray<Performed>) {
  const broken: Array<string> = []
  for (const [account, entries] of Map.groupBy(performed, ({ accountId }) => accountId)) {
    const machines = new Map<bigint, string>()
    for (const { current, epoch, machine } of entries) {
      if (epoch !== current) {
        broken.push(`I13: ${machine} wrote for ${account} in epoch ${epoch}, when it was ${current}`)
      }
      const owner = machines.get(epoch) ?? machine
      machines.set(epoch, owner)
      if (owner !== machine) broken.push(`I13: ${owner} and ${machine} both own ${account} in epoch ${epoch}`)
    }
  }
  const gaps = yield* sql<{ id: string }>`SELECT coalesce(c.id, p.command_id) AS id FROM commands c
    FULL JOIN (SELECT * FROM performed WHERE command_id IS NOT NULL) p ON p.account_id = c.account_id AND p.command_id = c.id
    WHERE (c.id IS NULL OR p.command_id IS NULL OR c.epoch <> p.epoch)
      AND coalesce(c.id, '') NOT LIKE ${`${PostLimits.earlier}%`}`
  return [
    ...broken,
    ...gaps.map(({ id }) => `I13: ${id} was executed without a recorded response, or recorded without execution`)
  ]
})

/** I19: the ids of an account's statuses rise in commit order, and approximate the time. */
const ids = (performed: ReadonlyArray<Performed>, commandOf: ReadonlyMap<string, Outcome["command"]>) => {
  const broken: Array<string> = []
  const newest = new Map<bigint, bigint>()
  const seen = new Set<string>()
  for (const { accountId, resultId, at, commandId } of performed) {
    const kind = commandOf.get(commandId ?? "")?._tag
    if ((kind !== "Publish" && kind !== "Reblog") || resultId === null || seen.has(resultId)) continue
    seen.add(resultId)
    const id = BigInt(resultId)
    if (id === SpamRules.ruleId) continue
    const before = newest.get(accountId) ?? 0n
    if (id < before) broken.push(`I19: ${accountId} published ${id} after ${before}`)
    newest.set(accountId, id)
    if (Math.abs(Number(id >> 16n) - at.getTime()) > idMillisOff) {
      broken.push(`I19: ${id} was not created at ${at.getTime()}`)
    }
  }
  return broken
}

/** I12: counters equal the counts of rows. */
export const counters = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const accounts = yield* sql<{ id: bigint }>`SELECT s.account_id AS id FROM account_stats s WHERE
    followers_count <> (SELECT count(*) FROM follows f WHERE f.target_account_id = s.account_id)
    OR following_count <> (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id)
    OR statuses_count <> (SELECT count(*) FROM statuses t WHERE t.account_id = s.account_id AND t.deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM held_posts h WHERE h.status_id = t.id)
      AND NOT EXISTS (SELECT FROM interaction_requests r WHERE r.interaction_id = t.id AND r.state = 'pending'))`
  const statuses = yield* sql<{ id: bigint }>`SELECT s.status_id AS id FROM status_stats s WHERE
    favourites_count <> (SELECT count(*) FROM favourites f WHERE f.status_id = s.status_id)
    OR quotes_count <> (SELECT count(*) FROM quotes q JOIN statuses t ON t.id = q.status_id
      WHERE q.quoted_status_id = s.status_id AND q.state = 'accepted' AND t.deleted_at IS NULL)
    OR reblogs_count <> (SELECT count(*) FROM statuses t WHERE t.reblog_of_id = s.status_id AND t.deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM interaction_requests r WHERE r.interaction_id = t.id AND r.state = 'pending'))
    OR replies_count <> (SELECT count(*) FROM statuses t WHERE t.in_reply_to_id = s.status_id AND t.deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM held_posts h WHERE h.status_id = t.id)
      AND NOT EXISTS (SELECT FROM interaction_requests r WHERE r.interaction_id = t.id AND r.state = 'pending'))`
  const polls = yield* sql<{ id: bigint }>`SELECT p.status_id AS id FROM polls p
    JOIN statuses s ON s.id = p.status_id AND s.local
    WHERE voters_count <> (SELECT count(DISTINCT account_id) FROM poll_votes v WHERE v.status_id = p.status_id)
    OR counts <> ARRAY(SELECT (SELECT count(*)::int FROM poll_votes v WHERE v.status_id = p.status_id AND v.choice = at - 1)
      FROM generate_series(1, cardinality(counts)) at)`
  return [
    ...accounts.map(({ id }) => `I12: a counter of the account ${id} is wrong`),
    ...statuses.map(({ id }) => `I12: a counter of the status ${id} is wrong`),
    ...polls.map(({ id }) => `I20: the counts of the poll ${id} differ from its votes`)
  ]
})

/** I11: a blocked account neither follows nor requests to. */
const severed = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const rows = yield* sql<{ what: string }>`
    SELECT r.account_id || '>' || r.target_account_id AS what FROM (
      SELECT account_id, target_account_id FROM follows UNION ALL SELECT account_id, target_account_id FROM follow_requests) r
    JOIN blocks b ON (b.account_id, b.target_account_id) IN
      ((r.account_id, r.target_account_id), (r.target_account_id, r.account_id)) ORDER BY 1`
  return rows.map(({ what }) => `I11: the follow ${what} exists despite a block`)
})

/** I16: no pending work is left. */
const leftovers = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, now: number) {
  const rows = yield* sql<{ what: string }>`
    SELECT 'the intent ' || kind || ' of ' || account_id AS what FROM fanouts
    UNION ALL SELECT kind || ' of ' || account_id FROM agenda WHERE due_at < ${new Date(now)}
    UNION ALL SELECT 'the mute ' || account_id || '>' || target_account_id FROM mutes WHERE expires_at < ${new Date(
    now
  )}
    UNION ALL SELECT 'the scheduled status ' || id || ', which is due,' FROM scheduled_statuses
      WHERE scheduled_at < ${new Date(now)}
    UNION ALL SELECT 'the reblog ' || s.id || ' of a deleted status' FROM statuses s JOIN statuses o ON o.id = s.reblog_of_id
      WHERE o.deleted_at IS NOT NULL AND s.deleted_at IS NULL`
  return rows.map(({ what }) => `I16: ${what} is left`)
})
