import { Effect } from "effect"
import { boundedMap } from "../runtime/BoundedMap.ts"

/** Maximum remembered rows that failed to render; each is logged once, so that popular pages do not fill the log. */
const loggedMax = 1_000
const logged = boundedMap<string, true>(loggedMax)

interface Failure {
  readonly row: string
  readonly error: unknown
}

const logFailures = (failures: ReadonlyArray<Failure>) =>
  Effect.forEach(failures, ({ error, row }) => {
    if (logged.has(row)) return Effect.void
    logged.set(row, true)
    return Effect.logError(`${row} cannot be rendered and was left out`, error)
  }, { discard: true })

/**
 * Renders each row by `make`; omits rows for which it returns undefined. A row for which `make` throws is omitted and
 * logged once, as `kind` with its `key`: one bad row never fails the page (security row 39).
 */
export const renderedRows = <Row, A>(
  kind: string,
  rows: Iterable<Row>,
  key: (row: Row) => unknown,
  make: (row: Row) => A | undefined
): Effect.Effect<ReadonlyArray<A>> => {
  const rendered: Array<A> = []
  const failures: Array<Failure> = []
  for (const row of rows) {
    try {
      const one = make(row)
      if (one !== undefined) rendered.push(one)
    } catch (error) {
      failures.push({ row: `${kind} ${String(key(row))}`, error })
    }
  }
  return failures.length === 0 ? Effect.succeed(rendered) : Effect.as(logFailures(failures), rendered)
}
