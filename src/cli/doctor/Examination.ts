import { Data, Effect } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import * as Database from "../../layers/Database.ts"

/** Result of a check. `warn` and `skip` do not make the doctor fail. */
type Verdict = Data.TaggedEnum<{
  Ok: { readonly words: string }
  Warn: { readonly words: string }
  Skip: { readonly words: string }
  Fail: { readonly words: string }
}>
export const { Fail, Ok, Skip, Warn } = Data.taggedEnum<Verdict>()

/** A check: its subject, and its verdict or an error. */
export interface Examination<R> {
  readonly subject: string
  readonly examine: Effect.Effect<Verdict, { readonly message: string }, R>
}

/** A check and its verdict. */
interface Examined {
  readonly subject: string
  readonly verdict: Verdict
}

const labels = { Ok: "ok", Warn: "warn", Skip: "skip", Fail: "FAIL" } satisfies Record<Verdict["_tag"], string>

/** Returns the line that is printed for a check. */
export const lineOf = ({ subject, verdict }: Examined): string =>
  `${labels[verdict._tag].padEnd(7)}${subject}: ${verdict.words}`

/** Returns what `--json` prints for a check. */
export const recordOf = ({ subject, verdict }: Examined) => ({
  name: subject,
  outcome: labels[verdict._tag].toLowerCase(),
  words: verdict.words
})

/** Runs a check; an error becomes a verdict. */
export const examined = <R>({ examine, subject }: Examination<R>): Effect.Effect<Examined, never, R> =>
  Effect.matchEager(examine, {
    onSuccess: (verdict) => ({ subject, verdict }),
    onFailure: (error) => {
      const { message } = isSqlError(error) ? Database.failed(error) : error
      return { subject, verdict: Fail({ words: message }) }
    }
  })
