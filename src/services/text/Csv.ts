import { Effect, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"

/** Maximum characters of a row, and cells that are kept of it: a file of commas has one cell for each byte. */
const rowCharactersMax = 8_192
const cellsMax = 64
/** Characters that are read before yielding. */
const charactersPerTurn = 16_384

/** Text that is not CSV, or has a row of more than `rowCharactersMax` characters. */
class InvalidCsv extends Schema.TaggedError<InvalidCsv>()("InvalidCsv", {}) {}

/** Spreadsheets in many languages write semicolons. */
const delimiterOf = (text: string): "," | ";" => {
  const [first = ""] = text.slice(0, rowCharactersMax).split(/[\r\n]/, 1)
  return first.includes(";") && !first.includes(",") ? ";" : ","
}

const slicesOf = (text: string): ReadonlyArray<string> =>
  Array.from(
    { length: Math.ceil(text.length / charactersPerTurn) },
    (_, at) => text.slice(at * charactersPerTurn, (at + 1) * charactersPerTurn)
  )

/**
 * Reads the rows of a CSV text (RFC 4180), at most so many, without empty lines and without cells beyond `cellsMax`;
 * commas or semicolons separate.
 */
export const readCsv = (
  text: string,
  rowsMax: number
): Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, InvalidCsv> =>
  Stream.fromIterable(slicesOf(text)).pipe(
    Stream.rechunk(1),
    Stream.tap(() => Effect.yieldNow),
    Stream.pipeThroughChannel(Csv.decodeString({
      delimiter: delimiterOf(text),
      maxRecordSize: rowCharactersMax,
      ignoreEmptyLines: true
    })),
    Stream.map((row) => row.slice(0, cellsMax)),
    Stream.take(rowsMax),
    Stream.runCollect,
    Effect.mapError(() => new InvalidCsv())
  )

/** Beginning of a cell that a spreadsheet would take for a formula. */
const formula = /^[=+\-@\t\r]/

/** Returns the cells of a line for people, with an apostrophe before formulas. Not for files that a server imports. */
export const withoutFormulas = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.map((value) => formula.test(value) ? `'${value}` : value)

/** Renders a line of a CSV file (RFC 4180). */
export const csvLine = (values: ReadonlyArray<string>): string =>
  `${values.map((value) => /[",\r\n]/.test(value) ? `"${value.replaceAll("\"", "\"\"")}"` : value).join(",")}\r\n`
