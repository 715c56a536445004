import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "./Ids.ts"

/** Statement that has not run; its rows are unknown until decoded. */
type Statement = Effect.Effect<ReadonlyArray<unknown>, SqlError>

/** Column of type `timestamptz`, as the driver returns it. */
export const Timestamptz = Schema.instanceOf(Date)

/** Column of type `bigint[]`; `Schema.Array` is several times slower for many ids. */
export const BigInts = Schema.declare((ids): ids is ReadonlyArray<bigint> =>
  Array.isArray(ids) && ids.every((id) => typeof id === "bigint")
)

/**
 * Returns a function that runs a statement and decodes its rows: columns by their field names, without those that `row`
 * lacks. A row of another shape is a defect of the statement. Create it once, at the top of a file: a decoder's first
 * use costs 250 microseconds, a later row less than one.
 */
export const rowsOf = <Row extends Schema.ConstraintDecoder<unknown>>(
  row: Row
): (statement: Statement) => Effect.Effect<ReadonlyArray<Row["Type"]>, SqlError> => {
  const decode = Schema.decodeUnknownSync(Schema.Array(row))
  return (statement) => Effect.map(statement, (rows) => decode(rows))
}

export const idRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
export const accountIdRows = rowsOf(Schema.Struct({ accountId: AccountId }))

/** Returns the row of a statement that returns exactly one, such as INSERT ... RETURNING; no row is a defect. */
export const singleRow = <Row>([row]: ReadonlyArray<Row>): Row => {
  if (row === undefined) throw new Error("A statement that gives one row gave none")
  return row
}

/** Returns a value that a statement returns for every key; undefined is a defect of the statement. */
export const required = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("A statement did not give what it gives for every key")
  return value
}

/**
 * Returns an array parameter that may contain nulls, as the driver takes it: if all are null, the statement determines
 * their type.
 */
export const nullable = <A>(values: ReadonlyArray<A | null>): ReadonlyArray<A | null> | string =>
  values.every((value) => value === null) ? `{${values.map(() => "NULL").join(",")}}` : values
