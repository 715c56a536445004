import { Context, Effect, Layer } from "effect"
import { TestServer } from "./Server.ts"
import { counting } from "./StatementCounter.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** Number of statements that the server has run, its background work included. */
class Statements extends Context.Service<Statements, () => number>()("murmuration/test/support/Statements") {}

/** A server whose statements are counted. */
export const countedServer = Layer.unwrap(Effect.gen(function*() {
  const { statements, url } = yield* counting((yield* TestDatabase).url)
  return Layer.merge(TestServer.layerOnly({ DATABASE_URL: url }), Layer.succeed(Statements, statements))
})).pipe(Layer.provideMerge(TestDatabase.layer))

/** Requests whose count must be the lowest, and maximum requests until then. */
const [lowestSeen, roundsMax] = [3, 60]

/**
 * Returns the statements of one request with warm caches: the lowest count of repeated ones. Background work only adds to a
 * count, so the request is repeated until its lowest count was seen three times.
 */
export const statementsOf = Effect.fnUntraced(function*<E, R>(request: Effect.Effect<unknown, E, R>) {
  const statements = yield* Statements
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
