import { Effect } from "effect"

/** UTF-16 code units of texts that are worked on before others get their turn: some ten milliseconds. */
const turnUnitsMax = 131_072

/**
 * Counts texts that are worked on, one after the other. The effect gives others their turn after `turnUnitsMax`, so that many long
 * texts hold the event loop for no longer than a few do.
 */
export const turns = () => {
  let left = turnUnitsMax
  return (text: string): Effect.Effect<void> => {
    left -= text.length
    if (left > 0) return Effect.void
    left = turnUnitsMax
    return Effect.yieldNow
  }
}

/** Works on one thing after the other in turns, by the text that takes the most time. */
export const mapInTurns = Effect.fnUntraced(
  function*<A, B>(things: ReadonlyArray<A>, textOf: (thing: A) => string, work: (thing: A) => B) {
    const turn = turns()
    const done: Array<B> = []
    for (const thing of things) {
      done.push(work(thing))
      yield* turn(textOf(thing))
    }
    return done
  }
)
