import { Effect, Layer, Schedule } from "effect"
import { Cards } from "../../services/cards/Cards.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { Previews } from "../../services/previews/Previews.ts"

/** Pages that a node fetches at once: with their pictures they take memory. */
const cardsAtOnceMax = 24

const make = Effect.gen(function*() {
  const cards = yield* Cards
  const files = yield* StoredFiles
  const previews = yield* Previews
  const scope = yield* Effect.scope
  let underWay = 0

  /** Takes as many as there is room for; none waits for those that were begun before it. */
  const begin = Effect.gen(function*() {
    if (underWay >= cardsAtOnceMax) return
    for (const claimed of yield* cards.claim(cardsAtOnceMax - underWay)) {
      underWay++
      yield* previews.make(claimed).pipe(
        // It is due again when the claim is over.
        Effect.catchCause((cause) => Effect.logWarning("a card is left as it is claimed", cause)),
        Effect.ensuring(Effect.sync(() => underWay--)),
        Effect.forkIn(scope)
      )
    }
  })
  const every = <A, E>(period: "1 second" | "1 hour", what: string, work: Effect.Effect<A, E>) =>
    work.pipe(
      Effect.catchCause((cause) => Effect.logWarning(`${what} must wait`, cause)),
      Effect.repeat(Schedule.spaced(period)),
      Effect.forkScoped
    )
  yield* every("1 second", "cards", begin)
  yield* every("1 hour", "cards that nobody refers to", Effect.flatMap(cards.sweep, files.discard))
})

/**
 * Fetches the pages behind statuses' links: on every node, each page taken by one of them at a time, two of one site at
 * once, so that a slow one holds up itself alone. A page is asked for by way of its host's actor. What is learnt is written in one
 * transaction with the intents to tell of it; killed before that, the page is fetched again.
 */
export const layer = Layer.effectDiscard(make)
