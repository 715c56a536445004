import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Source } from "./Source.ts"
import {
  batchQuery,
  batchRowsMax,
  type Changes,
  keyColumn,
  nowMark,
  stagedValues,
  stagingStatements,
  type Step,
  type TextRow
} from "./Step.ts"

const batchRows = rowsOf(
  Schema.Struct({ rows: Schema.String, count: Schema.Int, last: Schema.NullOr(Schema.String) })
)
const TextRows = Schema.fromJsonString(Schema.Array(Schema.Record(Schema.String, Schema.NullOr(Schema.String))))
const decodeRows = Schema.decodeUnknownEffect(TextRows)
const cursorRows = rowsOf(
  Schema.Struct({
    cursor: Schema.BigInt,
    copied: Schema.BigInt,
    begunAt: Timestamptz,
    finishedAt: Schema.NullOr(Timestamptz)
  })
)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))
const endRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const presentRows = rowsOf(Schema.Struct({ present: Schema.Boolean }))
const idListRows = rowsOf(Schema.Struct({ ids: Schema.Array(Schema.BigInt) }))

/** Prepared rows of the source. */
interface Batch {
  readonly rows: ReadonlyArray<TextRow>
  /** Number of rows, and their last key. */
  readonly count: number
  readonly last: bigint
}

/** Rows that a run of a step copied and rejected. */
interface Copied {
  readonly copied: number
  readonly rejected: number
}

const none: Copied = { copied: 0, rejected: 0 }

/** Maximum characters of a stored reason. */
const reasonCharactersMax = 500

const reasonOf = ({ reason }: SqlError) => {
  const { cause } = reason
  const text = cause instanceof Error ? cause.message : reason.message
  return text.replaceAll("\0", "").slice(0, reasonCharactersMax)
}

/** Errors that one row can cause: a value that a column or a condition of the schema refuses. */
const ofRow = new Set(["ConstraintError", "UniqueViolation", "UnknownError"])
const isOfRow = ({ reason }: SqlError): boolean => ofRow.has(reason._tag)

/**
 * Runs steps of a copy: each batch is one transaction here, so that a copy which ends at any point goes on from its last
 * batch. A batch that Postgres refuses is halved down to the row that it refuses, which is recorded.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const source = yield* Source

  const atThisTime = (statement: string) =>
    Effect.map(Clock.currentTimeMillis, (millis) => statement.replaceAll(nowMark, new Date(millis).toISOString()))

  const reject = (step: Step, reason: string) => (condition: string) =>
    Effect.map(
      countRows(sql`WITH bad AS (DELETE FROM staged WHERE ${sql.literal(condition)} RETURNING ${sql(keyColumn)}),
        noted AS (INSERT INTO transfer_rejects (step, row_id, reason)
          SELECT ${step.name}, ${sql(keyColumn)}, ${reason} FROM bad ON CONFLICT (step, row_id) DO UPDATE
          SET reason = excluded.reason)
        SELECT count(*)::int AS count FROM bad`),
      (rows) => singleRow(rows).count
    )

  const skip = (condition: string) =>
    Effect.map(
      countRows(sql`WITH gone AS (DELETE FROM staged WHERE ${sql.literal(condition)} RETURNING 1)
        SELECT count(*)::int AS count FROM gone`),
      (rows) => singleRow(rows).count
    )

  const stage = Effect.fnUntraced(function*(step: Step, rows: ReadonlyArray<TextRow>) {
    const [create, fill] = stagingStatements(step)
    // Nothing is lost: a crash of the server undoes the last batches together with the cursor.
    yield* sql`SET LOCAL synchronous_commit = off`
    yield* sql.unsafe(create)
    yield* sql.unsafe(fill, stagedValues(step, rows))
    let skipped = 0
    for (const condition of step.skips ?? []) skipped += yield* skip(condition)
    let rejected = 0
    for (const [condition, reason] of step.rejects ?? []) rejected += yield* reject(step, reason)(condition)
    for (const statement of step.write) yield* sql.unsafe(yield* atThisTime(statement))
    return { copied: rows.length - skipped - rejected, rejected }
  })

  /** Moves the stored cursor in the current transaction, unless only changed rows are copied. */
  const advance = Effect.fnUntraced(
    function*(step: Step, last: bigint, { copied }: Copied, changes: Changes | undefined) {
      if (changes !== undefined) return
      yield* sql`UPDATE transfer_cursors SET cursor = greatest(cursor, ${last}), copied = copied + ${copied}
        WHERE step = ${step.name}`
    }
  )

  const refused = (step: Step, key: bigint, error: SqlError) =>
    sql`INSERT INTO transfer_rejects (step, row_id, reason) VALUES (${step.name}, ${key}, ${reasonOf(error)})
      ON CONFLICT (step, row_id) DO UPDATE SET reason = excluded.reason`

  /** Reads the rows above a cursor and prepares them; returns undefined after the last one. */
  const read = Effect.fnUntraced(function*(step: Step, cursor: bigint, limit: number, changes: Changes | undefined) {
    const statement = yield* atThisTime(batchQuery(step, cursor, limit, changes))
    const { count, last, rows } = singleRow(yield* batchRows(source.unsafe(statement)))
    if (last === null) return undefined
    const raw = yield* Effect.orDie(decodeRows(rows))
    const batch: Batch = {
      count,
      last: BigInt(last),
      rows: step.prepare === undefined ? raw : yield* step.prepare(raw)
    }
    return batch
  })

  /** Copies the rows above a cursor; with `changes`, those that changed, without moving the stored cursor. */
  const run = Effect.fnUntraced(function*(step: Step, from: bigint, changes: Changes | undefined) {
    let cursor = from
    let limit = batchRowsMax
    let total = none
    const add = (more: Copied) => {
      total = { copied: total.copied + more.copied, rejected: total.rejected + more.rejected }
    }
    let batch = yield* read(step, cursor, limit, changes)
    while (batch !== undefined) {
      const { count, last, rows } = batch
      const write = Effect.result(
        transaction(sql)(Effect.tap(stage(step, rows), (done) => advance(step, last, done, changes)))
      )
      // Both databases and this process work at once. After a refused batch one at a time is read, as the next may be refused.
      const isAhead = limit === batchRowsMax && step.needsFiles !== true && step.readsOwn !== true
      const [written, following] = yield* Effect.all([
        write,
        isAhead ? read(step, last, limit, changes) : Effect.undefined
      ], { concurrency: 2 })
      if (written._tag === "Success") {
        add(written.success)
        cursor = last
        limit = Math.min(batchRowsMax, limit * 2)
        batch = isAhead ? following : yield* read(step, cursor, limit, changes)
        continue
      }
      if (!isOfRow(written.failure)) return yield* written.failure
      if (count > 1) {
        limit = Math.ceil(count / 2)
      } else {
        const one = { copied: 0, rejected: 1 }
        yield* transaction(sql)(
          Effect.andThen(refused(step, last, written.failure), advance(step, last, one, changes))
        )
        add(one)
        cursor = last
      }
      batch = yield* read(step, cursor, limit, changes)
    }
    return total
  })

  const cursorOf = (step: Step) =>
    Effect.map(
      cursorRows(sql`SELECT cursor, copied, begun_at, finished_at FROM transfer_cursors WHERE step = ${step.name}`),
      ([row]) => row
    )

  /** Returns true if the source has the step's tables. */
  const isAt = ({ needs, table }: Step) =>
    Effect.map(
      presentRows(source`SELECT to_regclass(${table}) IS NOT NULL
        AND to_regclass(${needs ?? table}) IS NOT NULL AS present`),
      (rows) => singleRow(rows).present
    )

  /** Copies the rows of a step that are not here yet. */
  const copy = Effect.fnUntraced(function*(step: Step) {
    if (!(yield* isAt(step))) return none
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* sql`INSERT INTO transfer_cursors (step, begun_at) VALUES (${step.name}, ${now}) ON CONFLICT DO NOTHING`
    const before = yield* cursorOf(step)
    const done = yield* run(step, before?.cursor ?? 0n, undefined)
    yield* sql`UPDATE transfer_cursors SET finished_at = ${new Date(yield* Clock.currentTimeMillis)}
      WHERE step = ${step.name}`
    return done
  })

  /** Last id that was looked for at the source, by table here: several steps may copy rows of one. */
  const looked = new Map<string, bigint>()

  /** Ends rows here that are missing at the source; returns their number. */
  const endMissing = Effect.fnUntraced(function*(step: Step, table: string) {
    let ended = 0
    let cursor = looked.get(table) ?? 0n
    const { column, cursorOf } = step.endsBy ?? { column: "id", cursorOf: step.name }
    const key = sql(column)
    for (;;) {
      const rows = yield* endRows(sql`SELECT ${key} AS id FROM ${sql(table)} WHERE ${key} > ${cursor}
        AND ${key} <= (SELECT cursor FROM transfer_cursors WHERE step = ${cursorOf}) ORDER BY ${key} LIMIT ${batchRowsMax}`)
      const last = rows.at(-1)?.id
      if (last === undefined) return ended
      const { ids } = singleRow(
        yield* idListRows(source`SELECT coalesce(array_agg(t.${source(column)}::bigint), '{}') AS ids
          FROM ${source(step.table)} t WHERE t.${source(column)} = ANY (${rows.map(({ id }) => id)}::bigint[])
            AND to_jsonb(t) ->> 'deleted_at' IS NULL AND to_jsonb(t) ->> 'revoked_at' IS NULL`)
      )
      const present = new Set(ids)
      const missing = rows.flatMap(({ id }) => present.has(id) ? [] : [id])
      if (missing.length > 0) {
        yield* table === "statuses"
          ? sql`UPDATE statuses SET deleted_at = ${new Date(yield* Clock.currentTimeMillis)}
            WHERE id = ANY (${missing}::bigint[]) AND deleted_at IS NULL`
          : sql`DELETE FROM ${sql(table)} WHERE ${key} = ANY (${missing}::bigint[])`
      }
      ended += missing.length
      cursor = last
      looked.set(table, last)
    }
  })

  /** Deletes the rows that runs until `endedAt` copied, so that the next one copies all of the source. */
  const renew = (step: Step, table: string, endedAt: Date) =>
    transaction(sql)(Effect.all([
      sql`DELETE FROM ${sql(table)} WHERE created_at <= ${new Date(endedAt.getTime() + clockMillisMax)}`,
      sql`DELETE FROM transfer_rejects WHERE step = ${step.name}`,
      sql`UPDATE transfer_cursors SET cursor = 0, copied = 0, finished_at = NULL WHERE step = ${step.name}`
    ], { discard: true }))

  /** Brings what changed at the source since the last run: new rows, changed rows and rows that ended. */
  const delta = Effect.fnUntraced(function*(step: Step) {
    const now = new Date(yield* Clock.currentTimeMillis)
    const before = yield* cursorOf(step)
    if (!(yield* isAt(step))) return { fresh: none, changed: none, ended: 0 }
    if (step.renews !== undefined && before !== undefined) yield* renew(step, step.renews, before.finishedAt ?? now)
    // Before new rows: one that was removed and made again, as a follow, has another id and takes the place of the first.
    const ended = step.ends === undefined ? 0 : yield* endMissing(step, step.ends)
    const fresh = yield* copy(step)
    const changed = step.changes !== undefined && before !== undefined
      ? yield* run(step, 0n, { since: new Date(before.begunAt.getTime() - clockMillisMax), last: before.cursor })
      : none
    yield* sql`UPDATE transfer_cursors SET begun_at = ${now} WHERE step = ${step.name}`
    return { fresh, changed, ended }
  })

  return { copy, delta, cursorOf }
})

/** Maximum difference between the clocks of the two servers, in milliseconds. */
const clockMillisMax = 600_000
