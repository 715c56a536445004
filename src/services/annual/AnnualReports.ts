import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, idAt } from "../database/Ids.ts"
import { persisted } from "../database/Persisted.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { RefreshClaims } from "../federation/fetching/RefreshClaims.ts"
import { NotificationWriter } from "../feeds/NotificationWriter.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { boundsOf } from "../runtime/Moments.ts"
import { traced } from "../runtime/Traced.ts"
import { campaignOf, ReportData } from "./AnnualReport.ts"
import { reportOf } from "./AnnualReportQuery.ts"

/** Maximum reports computed in one round, and maximum accounts prepared in one round. */
const reportsMax = 20
const preparedMax = 5_000
/** Users seen within this period get a report without a request, in milliseconds. */
const activeMillis = 30 * 86_400_000

const Kept = persisted(ReportData, 1)
const keptRows = rowsOf(Schema.Struct({ year: Schema.Int, data: Schema.Unknown }))
const waitingRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, year: Schema.Int }))
const stateRows = rowsOf(Schema.Struct({ ready: Schema.Boolean }))

/** Returns the first id of a year. */
const yearStart = (year: number) => idAt(boundsOf({ year }, "UTC")[0])

/** A finished report. */
export interface AnnualReport extends ReportData {
  readonly year: number
}
type ReportState = "available" | "generating" | "eligible" | "ineligible"

/** Annual reports of users: offered in December, computed by the agenda, then kept. */
export class AnnualReports extends Context.Service<AnnualReports, {
  /** Unread reports of the owner, newest first. */
  readonly pending: (owner: AccountId) => Effect.Effect<ReadonlyArray<AnnualReport>>
  readonly find: (owner: AccountId, year: number) => Effect.Effect<AnnualReport, RecordNotFound>
  readonly state: (owner: AccountId, year: number) => Effect.Effect<ReportState>
  /** Requests a report; the agenda computes it within seconds. Returns true if it is being computed. */
  readonly request: (owner: AccountId, year: number) => Effect.Effect<boolean>
  readonly read: (owner: AccountId, year: number) => Effect.Effect<void, RecordNotFound>
  /** In December, queues reports for active users. */
  readonly prepare: Effect.Effect<void>
  /** Computes queued reports. */
  readonly sweep: Effect.Effect<void>
}>()("murmuration/services/annual/AnnualReports") {
  static readonly layerNoDeps = Layer.effect(AnnualReports, Effect.suspend(() => make))
  static readonly layer = AnnualReports.layerNoDeps.pipe(Layer.provide([NotificationWriter.layer, RefreshClaims.layer]))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const claims = yield* RefreshClaims
  const notifications = yield* NotificationWriter
  const campaign = Effect.map(Clock.currentTimeMillis, campaignOf)

  const decoded = ({ data, year }: { readonly year: number; readonly data: unknown }) =>
    Effect.map(Kept.decode(data), (report): AnnualReport => ({ ...report, year }))
  const posted = (account: bigint, year: number) =>
    sql`SELECT 1 FROM statuses WHERE account_id = ${account} AND deleted_at IS NULL
      AND id >= ${yearStart(year)} LIMIT 1`
  const state = Effect.fnUntraced(function*(owner: AccountId, year: number) {
    const [found] = yield* stateRows(sql`SELECT data IS NOT NULL AS ready FROM annual_reports
      WHERE account_id = ${owner} AND year = ${year}`)
    if (found !== undefined) return found.ready ? "available" : "generating"
    if (year !== (yield* campaign)) return "ineligible"
    return (yield* posted(owner, year)).length > 0 ? "eligible" : "ineligible"
  })

  const giveUp = (account: bigint, year: number) =>
    sql`DELETE FROM annual_reports WHERE account_id = ${account} AND year = ${year} AND data IS NULL`
  const compute = Effect.fnUntraced(function*(account: bigint, year: number) {
    const report = yield* reportOf(sql, account, year)
    if (report === undefined) yield* giveUp(account, year)
    else {
      const data = yield* Kept.encode(report)
      yield* transaction(sql)(Effect.andThen(
        sql`UPDATE annual_reports SET data = ${data}::jsonb WHERE account_id = ${account} AND year = ${year}`,
        notifications.notifyOwners("annual_report", [{ id: BigInt(year), accountId: account }])
      ))
    }
    yield* claims.end("report", account, report === undefined ? 0 : 1)
  }, (computed, account, year) =>
    Effect.catchCause(computed, (cause) =>
      // A failed report must not block the queue; it can be requested again.
      Effect.andThen(
        Effect.logWarning(`the annual report ${year} of account ${account} failed`, cause),
        giveUp(account, year)
      )))
  const prepare = Effect.gen(function*() {
    const year = yield* campaign
    if (year === undefined) return
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO annual_reports (account_id, year, created_at)
      SELECT u.account_id, ${year}, ${new Date(now)} FROM users u
      WHERE u.last_seen_at > ${new Date(now - activeMillis)}
        AND NOT EXISTS (SELECT FROM annual_reports r WHERE r.account_id = u.account_id AND r.year = ${year})
        AND EXISTS (SELECT FROM statuses s WHERE s.account_id = u.account_id AND s.deleted_at IS NULL
          AND s.id >= ${yearStart(year)})
      LIMIT ${sql.literal(String(preparedMax))} ON CONFLICT DO NOTHING`
  })

  return AnnualReports.of({
    pending: traced("AnnualReports.pending")(function*(owner) {
      const rows = yield* keptRows(sql`SELECT year, data FROM annual_reports
        WHERE account_id = ${owner} AND viewed_at IS NULL AND data IS NOT NULL ORDER BY year DESC`)
      return yield* Effect.forEach(rows, decoded)
    }, Effect.orDie),
    find: traced("AnnualReports.find")(function*(owner, year) {
      const [row] = yield* Effect.orDie(keptRows(sql`SELECT year, data FROM annual_reports
        WHERE account_id = ${owner} AND year = ${year} AND data IS NOT NULL`))
      return row === undefined ? yield* new RecordNotFound() : yield* decoded(row)
    }),
    state: traced("AnnualReports.state")(state, Effect.orDie),
    request: traced("AnnualReports.request")(function*(owner, year) {
      const before = yield* state(owner, year)
      if (before !== "eligible") return before === "generating"
      const now = yield* Clock.currentTimeMillis
      yield* sql`INSERT INTO annual_reports (account_id, year, created_at) VALUES (${owner}, ${year}, ${new Date(now)})
        ON CONFLICT DO NOTHING`
      yield* claims.begin("report", owner, 0)
      return true
    }, Effect.orDie),
    read: traced("AnnualReports.read")(function*(owner, year) {
      const at = new Date(yield* Clock.currentTimeMillis)
      const read = yield* Effect.orDie(sql`UPDATE annual_reports SET viewed_at = coalesce(viewed_at, ${at})
        WHERE account_id = ${owner} AND year = ${year} AND data IS NOT NULL RETURNING 1`)
      if (read.length === 0) return yield* new RecordNotFound()
    }),
    prepare: prepare.pipe(Effect.orDie, Effect.withSpan("AnnualReports.prepare")),
    sweep: Effect.gen(function*() {
      const waiting = yield* waitingRows(sql`SELECT account_id, year FROM annual_reports WHERE data IS NULL
        ORDER BY created_at LIMIT ${sql.literal(String(reportsMax))}`)
      yield* Effect.forEach(waiting, ({ accountId, year }) => compute(accountId, year), { discard: true })
    }).pipe(Effect.orDie, Effect.withSpan("AnnualReports.sweep"))
  })
})
