import { Effect, Layer } from "effect"
import { Cards } from "../../services/cards/Cards.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { Previews } from "../../services/previews/Previews.ts"
import { repeatEvery, runClaimed } from "./ClaimRounds.ts"

/** Maximum pages that a node fetches at once: with their pictures they take memory. */
const cardsAtOnceMax = 24
/** Further concurrent fetches from slow sites. */
const slowCards = { millis: 5_000, atOnceMax: 72 }

const make = Effect.gen(function*() {
  const cards = yield* Cards
  const files = yield* StoredFiles
  const previews = yield* Previews
  yield* runClaimed({
    workName: "cards",
    atOnceMax: cardsAtOnceMax,
    slow: slowCards,
    claim: cards.claim,
    run: previews.make
  })
  yield* repeatEvery("1 hour", "unreferenced cards", Effect.flatMap(cards.sweep, files.discard))
})

/**
 * Fetches link previews on every node. Each page is claimed by one node, two pages of a site at once, so that a slow
 * site delays only itself. Pages are fetched through their host's actor. The result is written in one transaction with
 * the intents that publish it; if the node dies before that, the page is fetched again.
 */
export const layer = Layer.effectDiscard(make)
