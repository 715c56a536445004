import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { accountIdRows, rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { atCommit, batched } from "../../database/TransactionBatch.ts"
import * as Backoff from "../../runtime/Backoff.ts"
import { traced } from "../../runtime/Traced.ts"
import { TraceParent } from "../../runtime/TraceParents.ts"
import { hashedKey } from "../../secrets/HashedKey.ts"
import * as InboundOutcomes from "./InboundOutcomes.ts"
import { InboundSender, senderQuery } from "./InboundSender.ts"
import * as Recording from "./Recording.ts"

const laterRows = rowsOf(Schema.Struct({ later: Schema.NullOr(Schema.Boolean) }))
const backlogRows = rowsOf(Schema.Struct({ waiting: Schema.Int, oldest: Schema.NullOr(Timestamptz), dead: Schema.Int }))

/** Maximum activities of one sender per round. */
export const inboundRoundMax = 50
const growing = { baseMillis: 10_000, growth: { factor: 2 }, jitter: 0 }
/** Backoff after a failure: eight tries within 22 minutes. */
export const inboundBackoff: Backoff.Backoff = { ...growing, capMillis: 24 * 3_600_000, triesMax: 8 }
/**
 * Backoff while an activity waits for a fetch that reports nothing: due after a minute, and for the last time within
 * four hours.
 */
const holdBackoff: Backoff.Backoff = { ...inboundBackoff, baseMillis: 60_000 }
/** Backoff after a fetch whose origin gave no usable reply. */
const unsureBackoff: Backoff.Backoff = { ...inboundBackoff, baseMillis: 2_000, growth: { factor: 4 } }
/** Prefix of outcomes that operators should look at. */
const deadMark = "set aside:"
/** Retention of processed activities, in milliseconds: longer than any signature is valid. */
export const inboundMillisMin = 7 * 24 * 3_600_000

export const InboundActivity = Schema.Struct({
  id: Schema.BigInt,
  document: Schema.String,
  receivedAt: Timestamptz,
  /** Time of signing; null if it was not stored. */
  signedAt: Schema.NullOr(Timestamptz),
  tries: Schema.Int,
  traceParent: TraceParent
})
export type InboundActivity = typeof InboundActivity.Type
/** Waiting activity with its sender, whose fields are null if the account is gone. */
const waitingRows = rowsOf(
  Schema.Struct({
    ...InboundActivity.fields,
    ...InboundSender.mapFields(Struct.map(Schema.NullOr)).fields,
    accountId: Schema.BigInt
  })
)
const isSender = Schema.is(InboundSender)
const awaitingRows = rowsOf(InboundActivity.mapFields(Struct.pick(["id", "document"])))

/** Activity whose last try failed; its document is kept. */
const DeadActivity = Schema.Struct({
  id: Schema.BigInt,
  /** Id of the sender. */
  actor: Schema.String,
  uri: Schema.String,
  receivedAt: Timestamptz,
  /** Error of the last try. */
  reason: Schema.String
})
type DeadActivity = typeof DeadActivity.Type
const deadActivityRows = rowsOf(DeadActivity)

/** Activities of other servers with their outcomes, deduplicated by sender. */
export class InboundActivities extends Context.Service<InboundActivities, {
  /**
   * Stores an activity. A duplicate has no effect unless it repeats, nor has an activity of a deleted account. Returns
   * false, and stores nothing, if too many of the sender's activities wait.
   */
  readonly enqueue: (accountId: AccountId, incoming: Recording.Incoming) => Effect.Effect<boolean, SqlError>
  /**
   * Ends the effect of an activity id by something signed at `signedMillis`: only a later signature has an effect
   * again. Runs in the current transaction. Ends nothing if the activity was repeated after that time, or if the id is
   * unknown.
   */
  readonly end: (
    accountId: AccountId,
    uri: string,
    signedMillis: number
  ) => Effect.Effect<"ended" | "done later" | "unknown", SqlError>
  /** Returns the sender's due activities in order of arrival; `sender` is undefined if the account is not remote. */
  readonly claim: (
    accountId: AccountId
  ) => Effect.Effect<
    { readonly sender: InboundSender | undefined; readonly waiting: ReadonlyArray<InboundActivity> },
    SqlError
  >
  /** Marks an activity as processed or refused, with its outcome, in the current transaction. */
  readonly complete: (id: bigint, outcome: string) => Effect.Effect<void, SqlError>
  /** Schedules a retry; after the last try, sets the activity aside for operators. */
  readonly retry: (activity: InboundActivity, why: string) => Effect.Effect<void, SqlError>
  /**
   * Holds an activity until something is fetched, or until a timeout; dropped after the last try. If it waits for a
   * post (`awaited`, its id), it is due as soon as the post is stored in any way (`RemoteStatuses.insert`).
   */
  readonly hold: (activity: InboundActivity, awaited?: string) => Effect.Effect<void, SqlError>
  /** Makes a held activity due now. */
  readonly release: (id: bigint) => Effect.Effect<void, SqlError>
  /** Makes a held activity due soon: the origin did not reply this time. */
  readonly retrySoon: (activity: InboundActivity) => Effect.Effect<void, SqlError>
  /** Returns the account's unfinished activities that wait for a post (its id), with their numbers and texts. */
  readonly awaiting: (
    accountId: AccountId,
    uri: string
  ) => Effect.Effect<ReadonlyArray<Pick<InboundActivity, "id" | "document">>, SqlError>
  /** Returns senders with due activities. */
  readonly due: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
  /** Returns activities that were set aside after their last try, newest first. */
  readonly dead: (rows: number) => Effect.Effect<ReadonlyArray<DeadActivity>, SqlError>
  /** Returns activities by their id, their actor or their number here, with their outcomes (`InboundOutcomes`). */
  readonly history: (
    name: string,
    rows: number
  ) => Effect.Effect<ReadonlyArray<InboundOutcomes.ListedActivity>, SqlError>
  /** Counts activities by outcome. */
  readonly ends: (rows: number) => Effect.Effect<ReadonlyArray<InboundOutcomes.OutcomeCount>, SqlError>
  /** Retries an activity that was set aside, from the first try; false if it does not exist. */
  readonly requeue: (id: bigint) => Effect.Effect<boolean, SqlError>
  /** Number of waiting activities, age of the oldest in milliseconds, and number set aside. */
  readonly backlog: Effect.Effect<
    { readonly waiting: number; readonly oldestMillis: number; readonly dead: number },
    SqlError
  >
  /** Deletes old processed activities, at most `rows`. */
  readonly sweep: (rows: number) => Effect.Effect<number, SqlError>
}>()("murmuration/services/federation/inbox/InboundActivities") {
  static readonly layer = Layer.effect(
    InboundActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const after = (millis: number) => Effect.map(now, (at) => new Date(at.getTime() + millis))
      const record = Recording.make(sql)
      const recordOutcome = InboundOutcomes.make()

      const waiting = batched(Effect.fnUntraced(function*(accountIds: ReadonlyArray<AccountId>) {
        const rows = yield* waitingRows(sql`
          SELECT i.*, sender.* FROM unnest(${accountIds}::bigint[]) AS given (account_id)
          CROSS JOIN LATERAL (SELECT account_id, id, document, received_at, signed_at, tries, trace_parent FROM inbound_activities
            WHERE account_id = given.account_id AND outcome IS NULL AND (tries = 0 OR due_at <= ${yield* now})
            ORDER BY id LIMIT ${rowsMax(sql, inboundRoundMax)}) i
          LEFT JOIN LATERAL (${senderQuery(sql, sql`given.account_id`)}) sender ON true ORDER BY i.id`)
        const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
        return (accountId: AccountId) => {
          const waiting = byAccount.get(accountId) ?? []
          return { sender: waiting.find(isSender), waiting }
        }
      }))
      const finish = atCommit((done: ReadonlyArray<{ readonly id: bigint; readonly outcome: string }>) =>
        Effect.asVoid(
          sql`UPDATE inbound_activities i SET outcome = d.outcome, document = NULL
            FROM unnest(${done.map(({ id }) => id)}::bigint[], ${done.map(({ outcome }) => outcome)}::text[])
              AS d (id, outcome) WHERE i.id = d.id AND i.outcome IS NULL`
        )
      )

      return InboundActivities.of({
        enqueue: traced("InboundActivities.enqueue")((accountId, incoming) => record(accountId, incoming)),
        end: traced("InboundActivities.end")(function*(accountId, uri, signedMillis) {
          const at = new Date(signedMillis)
          const key = Recording.keyOf(uri, "")
          const [row] = yield* laterRows(sql`WITH known AS MATERIALIZED (
              SELECT id, coalesce(signed_at, due_at) AS signed_at FROM inbound_activities
              WHERE account_id = ${accountId} AND uri = ${key}),
            ended AS (UPDATE inbound_activities i SET signed_at = ${at} FROM known k
              WHERE i.id = k.id AND k.signed_at < ${at} AND i.outcome IS NOT NULL)
            SELECT bool_or(signed_at > ${at}) AS later FROM known`)
          const later = row?.later ?? null
          return later === null ? "unknown" : later ? "done later" : "ended"
        }),
        claim: traced("InboundActivities.claim")((accountId) => waiting(accountId)),
        complete: traced("InboundActivities.complete")((id, outcome) =>
          Effect.andThen(recordOutcome(id, outcome), finish({ id, outcome }))
        ),
        retry: traced("InboundActivities.retry")(function*({ id, tries }, why) {
          const delay = yield* Backoff.next(inboundBackoff, tries + 1)
          if (delay === undefined) yield* recordOutcome(id, deadMark)
          yield* sql`UPDATE inbound_activities SET tries = tries + 1, due_at = ${yield* after(delay ?? 0)},
              outcome = ${delay === undefined ? `${deadMark} ${why}` : null}
            WHERE id = ${id} AND outcome IS NULL`
        }),
        hold: traced("InboundActivities.hold")(function*({ id, tries }, awaited) {
          const at = yield* now
          const delay = yield* Backoff.next(holdBackoff, tries + 1)
          const later = yield* after(delay ?? 0)
          const outcome = delay === undefined ? "ignored: its object cannot be fetched" : null
          if (outcome !== null) yield* recordOutcome(id, outcome)
          // The post may have arrived in the meantime.
          yield* sql`UPDATE inbound_activities SET tries = tries + 1, outcome = ${outcome},
              awaits = ${awaited === undefined ? null : hashedKey(awaited)}, due_at = CASE WHEN EXISTS (
                SELECT FROM statuses WHERE uri = ${awaited ?? null}) THEN ${at}::timestamptz ELSE ${later} END
            WHERE id = ${id} AND outcome IS NULL`
        }),
        retrySoon: traced("InboundActivities.retrySoon")(function*({ id, tries }) {
          const soon = yield* after(Backoff.delayMillis(unsureBackoff, tries + 1, 0))
          yield* sql`UPDATE inbound_activities SET due_at = least(due_at, ${soon}) WHERE id = ${id} AND outcome IS NULL`
        }),
        awaiting: traced("InboundActivities.awaiting")((accountId, uri) =>
          awaitingRows(sql`SELECT id, document FROM inbound_activities
            WHERE awaits = ${hashedKey(uri)} AND awaits IS NOT NULL AND outcome IS NULL AND account_id = ${accountId}
            ORDER BY id LIMIT ${rowsMax(sql, inboundRoundMax)}`)
        ),
        release: traced("InboundActivities.release")(function*(id) {
          yield* sql`UPDATE inbound_activities SET due_at = ${yield* now} WHERE id = ${id} AND outcome IS NULL`
        }),
        due: traced("InboundActivities.due")(function*(accountsMax) {
          const rows = yield* accountIdRows(sql`SELECT DISTINCT account_id FROM inbound_activities
            WHERE outcome IS NULL AND (tries = 0 OR due_at <= ${yield* now}) LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        }),
        dead: traced("InboundActivities.dead")((rows) =>
          deadActivityRows(sql`SELECT i.id, coalesce(a.uri, a.username) AS actor, i.uri, i.received_at,
              substr(i.outcome, ${deadMark.length + 2}) AS reason
            FROM inbound_activities i JOIN accounts a ON a.id = i.account_id
            WHERE i.outcome LIKE 'set aside:%' ORDER BY i.id DESC LIMIT ${rowsMax(sql, rows)}`)
        ),
        history: traced("InboundActivities.history")((name, rows) => InboundOutcomes.history(sql, name, rows)),
        ends: traced("InboundActivities.ends")((rows) => InboundOutcomes.ends(sql, rows)),
        requeue: traced("InboundActivities.requeue")(function*(id) {
          const rows = yield* sql`UPDATE inbound_activities SET outcome = NULL, tries = 0, due_at = ${yield* now}
            WHERE id = ${id} AND outcome LIKE 'set aside:%' RETURNING id`
          return rows.length > 0
        }),
        backlog: Effect.gen(function*() {
          const millis = (yield* now).getTime()
          const { dead, oldest, waiting } = singleRow(
            yield* backlogRows(sql`SELECT w.waiting, w.oldest,
              (SELECT count(*)::int FROM inbound_activities WHERE outcome LIKE 'set aside:%') AS dead
            FROM (SELECT count(*)::int AS waiting, min(received_at) AS oldest FROM inbound_activities
              WHERE outcome IS NULL) w`)
          )
          return { waiting, dead, oldestMillis: oldest === null ? 0 : Math.max(0, millis - oldest.getTime()) }
        }).pipe(Effect.withSpan("InboundActivities.backlog")),
        sweep: traced("InboundActivities.sweep")(function*(rows) {
          const before = new Date((yield* now).getTime() - inboundMillisMin)
          const deleted = yield* sql`DELETE FROM inbound_activities WHERE id IN (
            SELECT id FROM inbound_activities WHERE received_at < ${before} AND outcome IS NOT NULL
              AND outcome NOT LIKE 'set aside:%' LIMIT ${rows}) RETURNING id`
          return deleted.length
        })
      })
    })
  )
}
