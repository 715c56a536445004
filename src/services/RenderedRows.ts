import { Effect } from "effect"
import { boundedMap } from "./BoundedMap.ts"

/** Rows whose failure this process logged and does not log again. A page that is read often would fill the log. */
const loggedMax = 1_000
const logged = boundedMap<string, true>(loggedMax)

interface Failure {
  readonly row: string
  readonly error: unknown
}

const tell = (failures: ReadonlyArray<Failure>) =>
  Effect.forEach(failures, ({ error, row }) => {
    if (logged.has(row)) return Effect.void
    logged.set(row, true)
    return Effect.logError(`${row} cannot be rendered and is left out`, error)
  }, { discard: true })

/**
 * What `make` gives for each row, without those for which it gives nothing. A row for which it throws is left out and
 * logged as `what` with its `key`, once: whatever is wrong with a row is never the page's (security row 39).
 */
export const renderedRows = <Row, A>(
  what: string,
  rows: Iterable<Row>,
  key: (row: Row) => unknown,
  make: (row: Row) => A | undefined
): Effect.Effect<ReadonlyArray<A>> => {
  const made: Array<A> = []
  const failures: Array<Failure> = []
  for (const row of rows) {
    try {
      const one = make(row)
      if (one !== undefined) made.push(one)
    } catch (error) {
      failures.push({ row: `${what} ${String(key(row))}`, error })
    }
  }
  return failures.length === 0 ? Effect.succeed(made) : Effect.as(tell(failures), made)
}
