import type { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { StorageFailed } from "../media/Storage.ts"

/** Row of a step as text by column; null for a missing column, too. */
export type TextRow = { readonly [column: string]: string | null }

/**
 * Copy of one table of Mastodon's database in batches by a unique key. A batch is staged in the temporary table
 * `staged`, from which `write` inserts; all within one transaction that also moves the cursor.
 */
export interface Step {
  /** Name of its cursor. */
  readonly name: string
  /** Source table, whose alias is `t`. */
  readonly table: string
  /** Joins and condition of the source; the columns of `key` and `t` are those of all supported versions. */
  readonly joins?: string
  readonly where?: string
  /** Condition of the rows that a plan counts as an upper bound, where counting by `where` takes as long as copying. */
  readonly countedWhere?: string
  /** Further table that the source must have; later versions have more tables. */
  readonly needs?: string
  /** Unique key of the source rows; `t.id` by default. */
  readonly key?: string
  /** Columns of `t`, as `name` or `name:type`. A column that a version does not have is null. */
  readonly columns: string
  /** Further staged columns by SQL expression of the source, as `name` or `name:type`. */
  readonly computed?: ReadonlyArray<readonly [column: string, expression: string]>
  /** Columns that `prepare` adds. */
  readonly prepared?: string
  readonly prepare?: (rows: ReadonlyArray<TextRow>) => Effect.Effect<ReadonlyArray<TextRow>, StorageFailed | SqlError>
  /** Conditions on `staged` of rows that are left out on purpose, as parts of posts that are not copied; not recorded. */
  readonly skips?: ReadonlyArray<string>
  /** Conditions on `staged` of rows that are not copied, with the reason. */
  readonly rejects?: ReadonlyArray<readonly [condition: string, reason: string]>
  /** Statements that read `staged`. */
  readonly write: ReadonlyArray<string>
  /** True if `prepare` reads rows that earlier batches wrote. */
  readonly readsOwn?: true
  /** True if it copies files of the media folder. Without one it is left for a later run. */
  readonly needsFiles?: boolean
  /**
   * True if rows change without a new key: a delta copies those with a later `updated_at` again. "unseen" if the table
   * does not say when: all are copied again. Otherwise those with a later `created_at`, as what they refer to may have
   * come after its step.
   */
  readonly changes?: true | "unseen"
  /** Condition of further rows that a delta copies again, with `sinceMark`. */
  readonly changesWith?: string
  /** Table here whose rows end if they are missing, deleted or revoked at the source; has the same `id`. */
  readonly ends?: string
  /** Key of `ends` instead of `id`, the same column at the source, and the step whose cursor is the last copied key. */
  readonly endsBy?: { readonly column: string; readonly cursorOf: string }
  /** Table here that a delta empties and fills again, as its rows have no `id` of the source by which they could end. */
  readonly renews?: string
}

/** Characters of the names of steps in the output. */
const nameCharacters = 28

/** Returns the name of a step as the first column of a line. */
export const nameCell = (name: string): string => name.padEnd(nameCharacters)

interface Column {
  readonly name: string
  readonly type: string
}

const columnOf = (text: string): Column => {
  const [name = "", type = "text"] = text.split(":")
  return { name, type }
}
const columnsIn = (text: string | undefined): ReadonlyArray<Column> =>
  (text ?? "").split(/\s+/).filter((word) => word !== "").map(columnOf)

/** Stands in a step's statements for the time of the run, in ISO 8601; both databases read times as UTC. */
export const nowMark = "{now}"

/** Stands in `changesWith` for the time of the last run, as the source's times are written. */
export const sinceMark = "{since}"

/** Key of a staged row; the other columns are the step's. */
export const keyColumn = "transfer_key"

/** Returns the staged columns of a step. */
const stagedColumns = (step: Step): ReadonlyArray<Column> => [
  columnOf(`${keyColumn}:bigint`),
  ...columnsIn(step.columns),
  ...(step.computed ?? []).map(([column]) => columnOf(column)),
  ...columnsIn(step.prepared)
]

/** Selects rows that were copied, up to the key `last`, and may have changed since that time. */
interface Changes {
  readonly since: Date
  readonly last: bigint
}

/** Rows of a step that are copied again: changed ones, or those of keys that were rejected. */
export type Selection = Changes | { readonly keys: ReadonlyArray<bigint> }

/** Returns the conditions of a selection. */
const selected = (step: Step, key: string, selection: Selection): ReadonlyArray<string> => {
  if ("keys" in selection) return [`${key} = ANY ('{${selection.keys.join(",")}}'::bigint[])`]
  const upToLast = `${key} <= ${selection.last}`
  if (step.changes === "unseen") return [upToLast]
  const since = `('${selection.since.toISOString()}'::timestamptz AT TIME ZONE 'UTC')`
  const changed = `t.${step.changes === undefined ? "created_at" : "updated_at"} >= ${since}`
  return [
    upToLast,
    step.changesWith === undefined ? changed : `(${changed} OR ${step.changesWith.replaceAll(sinceMark, since)})`
  ]
}

/**
 * Returns the source statement of a batch: rows above `cursor` as a JSON list, their number and the last key. Each value
 * is text, so that 64-bit numbers keep their digits.
 */
export const batchQuery = (step: Step, cursor: bigint, limit: number, selection: Selection | undefined): string => {
  const key = step.key ?? "t.id"
  const computed = step.computed ?? []
  const fields = [
    `'${keyColumn}', s.${keyColumn}::text`,
    ...columnsIn(step.columns).map(({ name }) => `'${name}', s.j ->> '${name}'`),
    ...computed.map(([name]) => `'${columnOf(name).name}', s.${columnOf(name).name}::text`)
  ]
  const conditions = [
    `${key} > ${cursor}`,
    ...(step.where === undefined ? [] : [`(${step.where})`]),
    ...(selection === undefined ? [] : selected(step, key, selection))
  ]
  return `SELECT coalesce(json_agg(json_build_object(${
    fields.join(", ")
  }) ORDER BY s.${keyColumn}), '[]')::text AS rows,
      count(*)::int AS count, max(s.${keyColumn})::text AS last
    FROM (SELECT ${key} AS ${keyColumn}, to_jsonb(t) AS j${
    computed.map(([name, expression]) => `, ${expression} AS ${columnOf(name).name}`).join("")
  } FROM ${step.table} t ${step.joins ?? ""} WHERE ${conditions.join(" AND ")} ORDER BY ${key} LIMIT ${limit}) s`
}

/** Returns the source statement of those of these keys whose rows are still copied. */
export const keysQuery = (step: Step, keys: ReadonlyArray<bigint>): string => {
  const key = step.key ?? "t.id"
  return `SELECT coalesce(array_agg((${key})::bigint), '{}') AS keys FROM ${step.table} t ${step.joins ?? ""}
    WHERE ${[...selected(step, key, { keys }), ...(step.where === undefined ? [] : [`(${step.where})`])].join(" AND ")}`
}

/** Returns the statements that stage a batch; the second one takes a list of texts for each column. */
export const stagingStatements = (step: Step): readonly [create: string, fill: string] => {
  const columns = stagedColumns(step)
  const names = columns.map(({ name }) => `"${name}"`).join(", ")
  return [
    `CREATE TEMP TABLE staged (${columns.map(({ name, type }) => `"${name}" ${type}`).join(", ")}) ON COMMIT DROP`,
    `INSERT INTO staged (${names}) SELECT ${columns.map(({ name, type }) => `r."${name}"::${type}`).join(", ")}
      FROM unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(", ")}) AS r (${names})`
  ]
}

/** Returns the parameters that fill the staged columns. The client cannot send a list of nulls, but its literal. */
export const stagedValues = (step: Step, rows: ReadonlyArray<TextRow>): ReadonlyArray<unknown> =>
  stagedColumns(step).map(({ name }) => {
    const values = rows.map((row) => row[name] ?? null)
    return values.every((value) => value === null) ? `{${values.map(() => "NULL").join(",")}}` : values
  })

/** Maximum rows of a source table in one batch. */
export const batchRowsMax = 2_000
