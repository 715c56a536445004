import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { accountIdRows, idRows, rowsOf, Timestamptz } from "../../database/Rows.ts"
import { transaction } from "../../database/Transactions.ts"
import { FileOwners } from "../../media/FileOwners.ts"
import type { Upload } from "../../media/Uploads.ts"
import { RecordNotFound, Unprocessable } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { lockAccount } from "../../visibility/Pairs.ts"
import { bringsPosts, isRunning, type Transfer } from "../Transfer.ts"
import { Transfers } from "../Transfers.ts"
import { emptyPlan } from "./ArchiveImport.ts"

/** Time between two archives of an account, in milliseconds. */
const archivePeriodMillis = 7 * 24 * 3_600_000
/** Weekly archives that one run begins. */
const begunMax = 100

const archiveRows = rowsOf(Schema.Struct({ id: Schema.BigInt, username: Schema.String, createdAt: Timestamptz }))

/** Archive that can be downloaded. */
type Archive = Readonly<{ id: bigint; username: string; createdAt: Date }>

/** Begins archives, imports of archives and their undoing, for their owners. `TransferRunner` runs them. */
export class ArchiveRequests extends Context.Service<ArchiveRequests, {
  /** Begins an archive; fails if the account began one in the last week. */
  readonly request: (owner: AccountId) => Effect.Effect<Transfer, Unprocessable>
  /** Returns true if the account gets a new archive every week. */
  readonly weekly: (owner: AccountId) => Effect.Effect<boolean>
  readonly setWeekly: (owner: AccountId, weekly: boolean) => Effect.Effect<void>
  /** Begins the weekly archives that are due. */
  readonly beginDue: Effect.Effect<void, SqlError>
  /** Returns a finished archive of the owner. */
  readonly download: (owner: AccountId, id: bigint) => Effect.Effect<Archive, RecordNotFound>
  /** Retires the archives of the account before this one, in the transaction that finishes it. */
  readonly retire: (owner: AccountId, id: bigint) => Effect.Effect<void, SqlError>
  /** Begins reading an uploaded archive. `source` is the file's name for its owner. */
  readonly read: (owner: AccountId, upload: Upload, source: string) => Effect.Effect<Transfer, Unprocessable>
  /** Begins an import whose plan its owner has seen. Repeating it changes nothing. */
  readonly confirm: (owner: AccountId, id: bigint) => Effect.Effect<Transfer, RecordNotFound>
  /** Begins the deletion of everything that an import added. */
  readonly undo: (owner: AccountId, importId: bigint) => Effect.Effect<Transfer, RecordNotFound | Unprocessable>
}>()("murmuration/services/transfers/archives/ArchiveRequests") {
  static readonly layer = Layer.effect(ArchiveRequests, Effect.suspend(() => make)).pipe(
    Layer.provide([FileOwners.layer, Transfers.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const fileOwners = yield* FileOwners
  const transfers = yield* Transfers

  const begin = { options: {}, total: 0, failed: 0, unconfirmed: false }

  const request = traced("ArchiveRequests.request")(function*(owner: AccountId) {
    const since = new Date((yield* Clock.currentTimeMillis) - archivePeriodMillis)
    return yield* Effect.gen(function*() {
      yield* lockAccount(sql, owner)
      const recent = yield* idRows(sql`SELECT id FROM transfers WHERE account_id = ${owner} AND kind = 'archive_out'
        AND state IN ('scheduled', 'in_progress', 'finished') AND created_at > ${since} LIMIT 1`)
      if (recent.length > 0) return yield* new Unprocessable({ text: "You can request an archive once a week." })
      return yield* transfers.begin(owner, { ...begin, kind: "archive_out" })
    }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
  })

  /** Begins a weekly archive together with the next due time, so that a node that dies loses none. */
  const beginWeekly = Effect.fnUntraced(function*(owner: AccountId, now: Date) {
    const next = new Date(now.getTime() + archivePeriodMillis)
    const due = yield* accountIdRows(sql`UPDATE archive_schedules SET due_at = ${next}
      WHERE account_id = ${owner} AND due_at <= ${now} RETURNING account_id`)
    // An archive that was requested by hand in the meantime takes its place.
    if (due.length > 0) yield* request(owner).pipe(Effect.catchTag("Unprocessable", () => Effect.void))
  }, transaction(sql))

  const beginDue = Effect.gen(function*() {
    const now = new Date(yield* Clock.currentTimeMillis)
    const due = yield* accountIdRows(sql`SELECT account_id FROM archive_schedules WHERE due_at <= ${now}
      ORDER BY due_at LIMIT ${rowsMax(sql, begunMax)}`)
    yield* Effect.forEach(due, ({ accountId }) => beginWeekly(accountId, now), { discard: true })
  }).pipe(Effect.withSpan("ArchiveRequests.beginDue"))

  return ArchiveRequests.of({
    request,
    beginDue,
    weekly: traced("ArchiveRequests.weekly")((owner) =>
      Effect.orDie(Effect.map(
        sql`SELECT FROM archive_schedules WHERE account_id = ${owner}`,
        (rows) => rows.length > 0
      ))
    ),
    setWeekly: traced("ArchiveRequests.setWeekly")(function*(owner: AccountId, weekly: boolean) {
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* weekly
        ? sql`INSERT INTO archive_schedules (account_id, due_at) VALUES (${owner}, ${at}) ON CONFLICT DO NOTHING`
        : sql`DELETE FROM archive_schedules WHERE account_id = ${owner}`
    }, Effect.orDie),
    download: traced("ArchiveRequests.download")(function*(owner: AccountId, id: bigint) {
      const [row] = yield* Effect.orDie(archiveRows(sql`SELECT t.id, a.username, t.created_at FROM transfers t
        JOIN accounts a ON a.id = t.account_id WHERE t.id = ${id} AND t.account_id = ${owner}
          AND t.kind = 'archive_out' AND t.state = 'finished' AND t.expires_at > ${new Date(
        yield* Clock.currentTimeMillis
      )}`))
      return row ?? (yield* new RecordNotFound())
    }),
    retire: traced("ArchiveRequests.retire")(function*(owner: AccountId, id: bigint) {
      yield* sql`UPDATE transfers SET expires_at = ${new Date(yield* Clock.currentTimeMillis)}
        WHERE account_id = ${owner} AND kind = 'archive_out' AND state = 'finished' AND id < ${id}`
    }),
    read: traced("ArchiveRequests.read")((owner, { bytes, name }, source) =>
      transfers.begin(
        owner,
        {
          ...begin,
          kind: "archive_in",
          source,
          options: { fileName: name, bytes, owner: null, plan: emptyPlan, confirmed: false }
        },
        (transferId) =>
          Effect.flatMap(
            fileOwners.hold([name], { transferId }),
            (held) => held ? Effect.void : Effect.die(new Error("An upload was swept before its import began"))
          )
      )
    ),
    confirm: traced("ArchiveRequests.confirm")(function*(owner: AccountId, id: bigint) {
      const { kind } = yield* transfers.find(owner, id)
      if (kind !== "archive_in") return yield* new RecordNotFound()
      // Other options are kept: the plan may be written at this moment.
      return yield* transfers.confirm(owner, id, { confirmed: true })
    }),
    undo: traced("ArchiveRequests.undo")(function*(owner: AccountId, importId: bigint) {
      const { added, kind, source, state } = yield* transfers.find(owner, importId)
      if (!bringsPosts(kind) || isRunning(state)) return yield* new RecordNotFound()
      return yield* transfers.begin(owner, {
        ...begin,
        kind: "archive_undo",
        source,
        total: added,
        options: { importId: String(importId) }
      })
    })
  })
})
