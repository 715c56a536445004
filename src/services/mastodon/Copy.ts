import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as EndedRows from "./EndedRows.ts"
import { Source } from "./Source.ts"
import {
  batchQuery,
  batchRowsMax,
  keyColumn,
  keysQuery,
  nowMark,
  type Selection,
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
const keyListRows = rowsOf(Schema.Struct({ keys: Schema.Array(Schema.BigInt) }))
const begunRows = rowsOf(Schema.Struct({ begunAt: Schema.NullOr(Timestamptz) }))
const keyRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const presentRows = rowsOf(Schema.Struct({ present: Schema.Boolean }))

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

/** Times of a delta: when it began, and since when rows may have changed. */
interface Delta {
  readonly at: Date
  readonly since: Date
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
  const endMissing = yield* EndedRows.make

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
    // Recorded again below, unless the row is copied this time.
    yield* sql`DELETE FROM transfer_rejects WHERE step = ${step.name} AND row_id IN (SELECT ${
      sql(keyColumn)
    } FROM staged)`
    let skipped = 0
    for (const condition of step.skips ?? []) skipped += yield* skip(condition)
    let rejected = 0
    for (const [condition, reason] of step.rejects ?? []) rejected += yield* reject(step, reason)(condition)
    for (const statement of step.write) yield* sql.unsafe(yield* atThisTime(statement))
    return { copied: rows.length - skipped - rejected, rejected }
  })

  /** Moves the stored cursor in the current transaction, unless rows are copied again. */
  const advance = Effect.fnUntraced(
    function*(step: Step, last: bigint, { copied }: Copied, selection: Selection | undefined) {
      if (selection !== undefined) return
      yield* sql`UPDATE transfer_cursors SET cursor = greatest(cursor, ${last}), copied = copied + ${copied}
        WHERE step = ${step.name}`
    }
  )

  const refused = (step: Step, key: bigint, error: SqlError) =>
    sql`INSERT INTO transfer_rejects (step, row_id, reason) VALUES (${step.name}, ${key}, ${reasonOf(error)})
      ON CONFLICT (step, row_id) DO UPDATE SET reason = excluded.reason`

  /** Reads the rows above a cursor and prepares them; returns undefined after the last one. */
  const read = Effect.fnUntraced(
    function*(step: Step, cursor: bigint, limit: number, selection: Selection | undefined) {
      const statement = yield* atThisTime(batchQuery(step, cursor, limit, selection))
      const { count, last, rows } = singleRow(yield* batchRows(source.unsafe(statement)))
      if (last === null) return undefined
      const raw = yield* Effect.orDie(decodeRows(rows))
      const batch: Batch = {
        count,
        last: BigInt(last),
        rows: step.prepare === undefined ? raw : yield* step.prepare(raw)
      }
      return batch
    }
  )

  /** Copies the rows above a cursor; with a selection only those that it selects, without moving the stored cursor. */
  const run = Effect.fnUntraced(function*(step: Step, from: bigint, selection: Selection | undefined) {
    let cursor = from
    let limit = batchRowsMax
    let total = none
    const add = (more: Copied) => {
      total = { copied: total.copied + more.copied, rejected: total.rejected + more.rejected }
    }
    let batch = yield* read(step, cursor, limit, selection)
    while (batch !== undefined) {
      const { count, last, rows } = batch
      const write = Effect.result(
        transaction(sql)(Effect.tap(stage(step, rows), (done) => advance(step, last, done, selection)))
      )
      // Both databases and this process work at once. After a refused batch one at a time is read, as the next may be refused.
      const isAhead = limit === batchRowsMax && step.needsFiles !== true && step.readsOwn !== true
      const [written, following] = yield* Effect.all([
        write,
        isAhead ? read(step, last, limit, selection) : Effect.undefined
      ], { concurrency: 2 })
      if (written._tag === "Success") {
        add(written.success)
        cursor = last
        limit = Math.min(batchRowsMax, limit * 2)
        batch = isAhead ? following : yield* read(step, cursor, limit, selection)
        continue
      }
      if (!isOfRow(written.failure)) return yield* written.failure
      if (count > 1) {
        limit = Math.ceil(count / 2)
      } else {
        const one = { copied: 0, rejected: 1 }
        yield* transaction(sql)(
          Effect.andThen(refused(step, last, written.failure), advance(step, last, one, selection))
        )
        add(one)
        cursor = last
      }
      batch = yield* read(step, cursor, limit, selection)
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

  /** Deletes the rows that runs until `endedAt` copied, so that the next one copies all of the source. */
  const renew = (step: Step, table: string, endedAt: Date) =>
    transaction(sql)(Effect.all([
      sql`DELETE FROM ${sql(table)} WHERE created_at <= ${new Date(endedAt.getTime() + clockMillisMax)}`,
      sql`DELETE FROM transfer_rejects WHERE step = ${step.name}`,
      sql`UPDATE transfer_cursors SET cursor = 0, copied = 0, finished_at = NULL WHERE step = ${step.name}`
    ], { discard: true }))

  /** Tries rejected rows again, as what they lacked may be here; forgets those that are no longer at the source. */
  const retry = Effect.fnUntraced(function*(step: Step) {
    let copied = 0
    let cursor = -1n
    for (;;) {
      const keys = (yield* keyRows(sql`SELECT row_id AS id FROM transfer_rejects WHERE step = ${step.name}
        AND row_id > ${cursor} ORDER BY row_id LIMIT ${batchRowsMax}`)).map(({ id }) => id)
      const last = keys.at(-1)
      if (last === undefined) return copied
      const found = singleRow(yield* keyListRows(source.unsafe(yield* atThisTime(keysQuery(step, keys))))).keys
      const present = new Set(found)
      const gone = keys.filter((key) => !present.has(key))
      yield* sql`DELETE FROM transfer_rejects WHERE step = ${step.name} AND row_id = ANY (${gone}::bigint[])`
      copied += (yield* run(step, 0n, { keys: found })).copied
      cursor = last
    }
  })

  /** Returns the times of a delta: its own, and since when rows may have changed: since any step of the last run. */
  const beginDelta = Effect.gen(function*() {
    const at = new Date(yield* Clock.currentTimeMillis)
    const [first] = yield* begunRows(sql`SELECT min(begun_at) AS begun_at FROM transfer_cursors`)
    return { at, since: new Date((first?.begunAt ?? at).getTime() - clockMillisMax) } satisfies Delta
  })

  /** Brings what changed at the source since the last run: new rows, changed rows and rows that ended. */
  const delta = Effect.fnUntraced(function*(step: Step, { at, since }: Delta) {
    const before = yield* cursorOf(step)
    if (!(yield* isAt(step))) return { fresh: none, changed: none, ended: 0 }
    if (step.renews !== undefined && before !== undefined) yield* renew(step, step.renews, before.finishedAt ?? at)
    // Before new rows: one that was removed and made again, as a follow, has another id and takes the place of the first.
    const ended = yield* endMissing(step)
    const healed = yield* retry(step)
    const fresh = yield* copy(step)
    const again = step.renews === undefined && before !== undefined
      ? yield* run(step, 0n, { since, last: before.cursor })
      : none
    return {
      fresh: { ...fresh, copied: fresh.copied + healed },
      changed: step.changes === undefined ? none : again,
      ended
    }
  })

  /** Ends a delta of all steps: the next one looks for changes since this one began. */
  const endDelta = ({ at }: Delta) => sql`UPDATE transfer_cursors SET begun_at = ${at}`

  return { copy, beginDelta, delta, endDelta, cursorOf }
})

/** Maximum difference between the clocks of the two servers, in milliseconds. */
const clockMillisMax = 600_000
