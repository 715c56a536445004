import { type Cause, Clock, Effect, Exit } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

const day = 86_400_000

/** Maximum rows per statement, so that no transaction is long. */
export const sweptRowsMax = 2_000
/** Maximum duration of one sweep, in milliseconds; the next sweep removes the rest. */
const sweepMillisMax = 1_200_000
/** Pause between two rounds of statements, in which other work runs. */
const pause = "10 millis"

/** Number of rows that one statement removed; `more` is true if the kind may have more. */
interface Removed {
  readonly removed: number
  readonly more: boolean
}

/** Rows that are removed for one reason. */
export interface Kind {
  readonly name: string
  /** Removes one batch. `ago` returns the time that many days ago; the statement visits at most `rows` rows. */
  readonly remove: (ago: (days: number) => Date, rows: number) => Effect.Effect<Removed, SqlError>
}

/** Creates a kind from a statement that removes at most `rows` rows and returns one row for each. */
export const kindOf = (
  name: string,
  statement: (ago: (days: number) => Date, rows: number) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Kind => ({
  name,
  remove: (ago, rows) => Effect.map(statement(ago, rows), ({ length }) => ({ removed: length, more: length >= rows }))
})

/** Result of a sweep: removed rows, and kinds that failed with their causes. */
interface Swept {
  readonly removed: number
  readonly failures: ReadonlyArray<readonly [name: string, cause: Cause.Cause<SqlError>]>
}

/** Returns true if Postgres cancelled a slow statement of several rows: fewer may finish in time. */
export const isRetriedSmaller = ({ reasons }: Cause.Cause<SqlError>, rows: number): boolean =>
  rows > 1 &&
  reasons.some((reason) =>
    reason._tag === "Fail" && isSqlError(reason.error) && reason.error.reason._tag === "StatementTimeoutError"
  )

/**
 * Removes rows of each kind, in batches and by turns, until nothing is left or the sweep's time is over. Halves the
 * batch of a kind whose statement exceeds its time limit. A kind that fails does not stop others.
 */
export const sweptAll = Effect.fnUntraced(function*(kinds: ReadonlyArray<Kind>) {
  const began = yield* Clock.currentTimeMillis
  const ago = (days: number) => new Date(began - days * day)
  const swept: Swept & { removed: number; failures: Array<Swept["failures"][number]> } = { removed: 0, failures: [] }
  let waiting = kinds.map((kind) => ({ kind, rows: sweptRowsMax }))
  while (waiting.length > 0 && (yield* Clock.currentTimeMillis) - began < sweepMillisMax) {
    const next: typeof waiting = []
    for (const { kind, rows } of waiting) {
      const exit = yield* Effect.exit(kind.remove(ago, rows))
      if (Exit.isSuccess(exit)) {
        swept.removed += exit.value.removed
        if (exit.value.more) next.push({ kind, rows })
      } else if (isRetriedSmaller(exit.cause, rows)) {
        next.push({ kind, rows: Math.trunc(rows / 2) })
      } else {
        swept.failures.push([kind.name, exit.cause])
      }
    }
    waiting = next
    if (waiting.length > 0) yield* Effect.sleep(pause)
  }
  return swept satisfies Swept
})
