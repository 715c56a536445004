import { Effect } from "effect"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { type ClientError, validationFailed } from "../../../../services/runtime/Errors.ts"
import { type ActResult, chosenIds, type Visit } from "../StaffVisit.ts"

/**
 * Runs `work` for each of the chosen rows. A failure does not stop the others; the notice reports it. Fails if no row
 * is chosen, or with the first error if all rows fail.
 */
export const eachChosen = Effect.fnUntraced(function*<R>(
  visit: Visit,
  work: (id: bigint) => Effect.Effect<unknown, ClientError, R>,
  done: (words: Messages, count: number) => string
) {
  const { words } = visit
  const ids = chosenIds(visit)
  if (ids.length === 0) return yield* validationFailed("Data can't be blank")
  const refused: Array<ClientError> = []
  yield* Effect.forEach(
    ids,
    (id) => Effect.catch(work(id), (error) => Effect.sync(() => refused.push(error))),
    { discard: true }
  )
  const [first] = refused
  if (first !== undefined && refused.length === ids.length) return yield* Effect.fail(first)
  const reasons = [...new Set(refused.map((error) => words.translate(error.message)))]
  return {
    notice: [
      done(words, ids.length - refused.length),
      ...(refused.length === 0 ? [] : [
        words.say("{count, plural, one {# item was} other {# items were}} skipped: {reasons}", {
          count: refused.length,
          reasons: words.list(reasons)
        })
      ])
    ].join(" ")
  } satisfies ActResult
})
