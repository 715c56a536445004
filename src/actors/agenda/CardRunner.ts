import { Effect, Layer } from "effect"
import { Cards } from "../../services/cards/Cards.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { Previews } from "../../services/previews/Previews.ts"
import { claiming, every } from "./ClaimRounds.ts"

/** Pages that a node fetches at once: with their pictures they take memory. */
const cardsAtOnceMax = 24
/** Beside them those of sites that take their time. */
const slowCards = { millis: 5_000, atOnceMax: 72 }

const make = Effect.gen(function*() {
  const cards = yield* Cards
  const files = yield* StoredFiles
  const previews = yield* Previews
  yield* claiming({
    what: "cards",
    atOnceMax: cardsAtOnceMax,
    slow: slowCards,
    claim: cards.claim,
    run: previews.make
  })
  yield* every("1 hour", "cards that nobody refers to", Effect.flatMap(cards.sweep, files.discard))
})

/**
 * Fetches the pages behind statuses' links: on every node, each page taken by one of them at a time, two of one site at
 * once, so that a slow one holds up itself alone. A page is asked for by way of its host's actor. What is learnt is written in one
 * transaction with the intents to tell of it; killed before that, the page is fetched again.
 */
export const layer = Layer.effectDiscard(make)
