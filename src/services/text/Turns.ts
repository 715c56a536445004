import { Effect } from "effect"

/** UTF-16 code units of texts that are processed before yielding: about ten milliseconds. */
const turnUnitsMax = 131_072

/**
 * Returns a function that counts processed texts and yields after `turnUnitsMax`, so that many long texts do not block
 * the event loop longer than a few.
 */
export const yieldBudget = () => {
  let left = turnUnitsMax
  return (text: string): Effect.Effect<void> => {
    left -= text.length
    if (left > 0) return Effect.void
    left = turnUnitsMax
    return Effect.yieldNow
  }
}

/** Maps a function over items; yields in between, by the length of their texts. */
export const mapWithYields = Effect.fnUntraced(
  function*<A, B>(things: ReadonlyArray<A>, textOf: (thing: A) => string, work: (thing: A) => B) {
    const turn = yieldBudget()
    const done: Array<B> = []
    for (const thing of things) {
      done.push(work(thing))
      yield* turn(textOf(thing))
    }
    return done
  }
)
