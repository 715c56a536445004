import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "./Ids.ts"

/** A statement that did not run yet: what it gives is unknown until it is decoded. */
type Statement = Effect.Effect<ReadonlyArray<unknown>, SqlError>

/** A column of type `timestamptz`, as the driver gives it. */
export const Timestamptz = Schema.instanceOf(Date)

/** A column of type `bigint[]`; `Schema.Array` takes several times as long for many ids. */
export const BigInts = Schema.declare((ids): ids is ReadonlyArray<bigint> =>
  Array.isArray(ids) && ids.every((id) => typeof id === "bigint")
)

/**
 * Runs statements and decodes their rows: columns by the names of the program, without those that `row` does not name. A row
 * of another shape is a defect of the statement. Made once, at the top of a file: a decoder costs 250 microseconds at its
 * first use, and a row under a microsecond after it.
 */
export const rowsOf = <Row extends Schema.ConstraintDecoder<unknown>>(
  row: Row
): (statement: Statement) => Effect.Effect<ReadonlyArray<Row["Type"]>, SqlError> => {
  const decode = Schema.decodeUnknownSync(Schema.Array(row))
  return (statement) => Effect.map(statement, (rows) => decode(rows))
}

/** The most common rows. */
export const idRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
export const accountIdRows = rowsOf(Schema.Struct({ accountId: AccountId }))

/** The row of a statement that gives exactly one, as INSERT ... RETURNING does; none is a defect of the statement. */
export const only = <Row>([row]: ReadonlyArray<Row>): Row => {
  if (row === undefined) throw new Error("A statement that gives one row gave none")
  return row
}

/** What a statement for many keys gives for each of them; none is a defect of the statement. */
export const known = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("A statement did not give what it gives for every key")
  return value
}

/**
 * The values of an array parameter of which some may be null, as the driver takes it: where all are, their type is what the
 * statement says.
 */
export const nullable = <A>(values: ReadonlyArray<A | null>): ReadonlyArray<A | null> | string =>
  values.every((value) => value === null) ? `{${values.map(() => "NULL").join(",")}}` : values
