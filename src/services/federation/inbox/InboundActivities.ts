import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { AccountId } from "../../Ids.ts"
import { rowsMax } from "../../Paging.ts"
import { traced } from "../../Traced.ts"

/** Activities of one sender that are taken up at once. */
export const inboundRoundMax = 50
/** How often one is tried before it is set aside. */
export const inboundTriesMax = 8
/** How long one waits at first for an answer from elsewhere, in milliseconds; twice as long each time. */
const holdMillis = 60_000
/** How long it is known what came, in milliseconds: longer than any signature holds. */
export const inboundMillisMin = 7 * 24 * 3_600_000
/** Activities of one sender that may wait; more are for later. */
export const waitingPerSenderMax = 1_000
/** Characters of an id that is kept as it is; a longer one by its hash. */
const uriCharactersMax = 2_000

export interface InboundActivity {
  readonly id: bigint
  readonly document: string
  readonly receivedAt: Date
  readonly tries: number
}

/** What came in from other servers, each activity of a sender once, and what became of it. */
export class InboundActivities extends Context.Service<InboundActivities, {
  /**
   * Keeps an activity; one that is there already has no effect, nor has one of an account that is gone by now. `uri`
   * undefined stands for what has no id. False where too much of the sender waits already, and nothing is kept.
   */
  readonly record: (
    accountId: AccountId,
    uri: string | undefined,
    document: string
  ) => Effect.Effect<boolean, SqlError>
  /** What waits for the sender and is due, in the order in which it came. */
  readonly waiting: (accountId: AccountId) => Effect.Effect<ReadonlyArray<InboundActivity>, SqlError>
  /** Is done, in the running transaction; `outcome` says what came of it. */
  readonly finish: (id: bigint, outcome: string) => Effect.Effect<void, SqlError>
  /** Did not work: it is tried again, later each time, and set aside for people to see after the last. */
  readonly postpone: (activity: InboundActivity, why: string) => Effect.Effect<void, SqlError>
  /** Waits for an answer from elsewhere and is due again where none comes; dropped after the last try. */
  readonly hold: (activity: InboundActivity) => Effect.Effect<void, SqlError>
  /** What is held is due now. */
  readonly hasten: (id: bigint) => Effect.Effect<void, SqlError>
  /** Senders for whom something is due. */
  readonly senders: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
  /** Forgets what is done and old; at most `rows` rows. */
  readonly sweep: (rows: number) => Effect.Effect<number, SqlError>
}>()("murmuration/services/federation/inbox/InboundActivities") {
  static readonly layer = Layer.effect(
    InboundActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const keyOf = (uri: string | undefined, document: string) =>
        uri !== undefined && uri.length <= uriCharactersMax ? uri : `sha256:${hash("sha256", uri ?? document)}`

      return InboundActivities.of({
        record: traced("InboundActivities.record")(function*(accountId, uri, document) {
          const at = yield* now
          const [row] = yield* sql<{ room: boolean }>`
            WITH sender AS (SELECT count(*) < ${waitingPerSenderMax} AS room FROM (SELECT FROM inbound_activities
              WHERE account_id = ${accountId} AND outcome IS NULL LIMIT ${rowsMax(sql, waitingPerSenderMax)}) w),
            made AS (INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at)
              SELECT next_id(${at.getTime()}), a.id, ${keyOf(uri, document)}, ${document}, ${at}, ${at}
              FROM sender, accounts a WHERE room AND a.id = ${accountId} ON CONFLICT (account_id, uri) DO NOTHING)
            SELECT room FROM sender`
          return row?.room === true
        }),
        waiting: traced("InboundActivities.waiting")(function*(accountId) {
          return yield* sql<InboundActivity>`SELECT id, document, received_at, tries FROM inbound_activities
            WHERE account_id = ${accountId} AND outcome IS NULL AND due_at <= ${yield* now}
            ORDER BY id LIMIT ${rowsMax(sql, inboundRoundMax)}`
        }),
        finish: traced("InboundActivities.finish")((id, outcome) =>
          Effect.asVoid(
            sql`UPDATE inbound_activities SET outcome = ${outcome}, document = NULL WHERE id = ${id} AND outcome IS NULL`
          )
        ),
        postpone: traced("InboundActivities.postpone")(function*({ id, tries }, why) {
          const later = new Date((yield* now).getTime() + 10_000 * 2 ** tries)
          const outcome = tries + 1 >= inboundTriesMax ? `set aside: ${why}` : null
          yield* sql`UPDATE inbound_activities SET tries = tries + 1, due_at = ${later}, outcome = ${outcome} WHERE id = ${id}`
        }),
        hold: traced("InboundActivities.hold")(function*({ id, tries }) {
          const later = new Date((yield* now).getTime() + holdMillis * 2 ** tries)
          const outcome = tries + 1 >= inboundTriesMax ? "ignored: its object cannot be had" : null
          yield* sql`UPDATE inbound_activities SET tries = tries + 1, due_at = ${later}, outcome = ${outcome} WHERE id = ${id}`
        }),
        hasten: traced("InboundActivities.hasten")(function*(id) {
          yield* sql`UPDATE inbound_activities SET due_at = ${yield* now} WHERE id = ${id} AND outcome IS NULL`
        }),
        senders: traced("InboundActivities.senders")(function*(accountsMax) {
          const rows = yield* sql<{ accountId: bigint }>`SELECT DISTINCT account_id FROM inbound_activities
            WHERE outcome IS NULL AND due_at <= ${yield* now} LIMIT ${accountsMax}`
          return rows.map(({ accountId }) => AccountId.make(accountId))
        }),
        sweep: traced("InboundActivities.sweep")(function*(rows) {
          const before = new Date((yield* now).getTime() - inboundMillisMin)
          const gone = yield* sql`DELETE FROM inbound_activities WHERE id IN (
            SELECT id FROM inbound_activities WHERE received_at < ${before} AND outcome IS NOT NULL
              AND outcome NOT LIKE 'set aside:%' LIMIT ${rows}) RETURNING id`
          return gone.length
        })
      })
    })
  )
}
