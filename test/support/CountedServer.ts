import { Context, Effect, Layer } from "effect"
import { timeSlotBits } from "../../src/services/search/TimeWindows.ts"
import { TestServer } from "./Server.ts"
import { counting } from "./StatementCounter.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** Statements that the server has run, including background work: their total, and the runs of each text. */
class Statements extends Context.Service<Statements, {
  readonly statements: () => number
  readonly runs: () => ReadonlyMap<string, number>
}>()("murmuration/test/support/Statements") {}

/** A server whose statements are counted. */
export const countedServer = Layer.unwrap(Effect.gen(function*() {
  const { url, ...counts } = yield* counting((yield* TestDatabase).url)
  return Layer.merge(TestServer.layerOnly({ DATABASE_URL: url }), Layer.succeed(Statements, counts))
})).pipe(Layer.provideMerge(TestDatabase.layer))

/** Number of requests that must have the lowest count, and maximum number of requests until then. */
const [lowestSeen, roundsMax] = [3, 60]

/**
 * Returns the number of statements of one request with warm caches. Background work only adds to a count, so the
 * request is repeated until its lowest count was seen three times.
 */
export const statementsOf = Effect.fnUntraced(function*<E, R>(request: Effect.Effect<unknown, E, R>) {
  const { statements } = yield* Statements
  const counts: Array<number> = []
  for (let round = 0; round < roundsMax; round++) {
    const before = statements()
    yield* request
    counts.push(statements() - before)
    const lowest = Math.min(...counts)
    if (counts.filter((count) => count === lowest).length >= lowestSeen) return lowest
  }
  return yield* Effect.die(new Error(`no steady number of statements: ${counts.join(", ")}`))
})

/**
 * Minimum and maximum number of requests. More than the minimum run if background work may have run a statement in all
 * of them.
 */
const [requestsMin, requestsMax] = [3, 12]

/**
 * Returns how often one request runs each statement, by text: the lowest count of repeated requests. Background work
 * and reads of expired caches are in only some of them, or run a statement once.
 */
export const runsOf = Effect.fnUntraced(function*<E, R>(request: Effect.Effect<unknown, E, R>) {
  const { runs } = yield* Statements
  let lowest = new Map<string, number>()
  for (let round = 0; round < requestsMax; round++) {
    const before = runs()
    yield* request
    const counts = [...runs()].map(([text, count]) => [text, count - (before.get(text) ?? 0)] as const)
    lowest = new Map(
      counts.map(([text, count]) => [text, round === 0 ? count : Math.min(count, lowest.get(text) ?? 0)] as const)
        .filter(([, count]) => count > 0)
    )
    if (round + 1 >= requestsMin && Math.max(0, ...lowest.values()) <= 1) break
  }
  return lowest
})

/** Beginning of a search in one period, and maximum periods: a busy machine ends a search after any of them. */
const periodSearch = "SELECT c.id FROM (SELECT d.status_id"
const periodsMax = timeSlotBits.length + 1

/** Returns the statements that `many` runs more often than `few`, and more than once: those that are run row by row. */
export const repeatedIn = (few: ReadonlyMap<string, number>, many: ReadonlyMap<string, number>) =>
  [...many].flatMap(([text, count]) =>
    count > Math.max(text.startsWith(periodSearch) ? periodsMax : 1, few.get(text) ?? 0)
      ? [`${few.get(text) ?? 0} or ${count} times: ${text}`] :
      []
  )

/** Returns the total number of statement runs. */
export const totalOf = (runs: ReadonlyMap<string, number>) => [...runs.values()].reduce((sum, count) => sum + count, 0)
