import { Console, Effect } from "effect"
import { nameCell } from "../services/mastodon/Step.ts"

/** Prints each minute how many rows a step has copied, until it ends: large tables take hours. */
export const during = <E2, R2>(name: string, copied: Effect.Effect<bigint, E2, R2>) => {
  const line = Effect.flatMap(copied, (count) => Console.log(`${nameCell(name)}${String(count).padStart(14)} so far`))
  const lines = Effect.forever(Effect.andThen(Effect.sleep("1 minute"), line))
  return <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R | R2> => Effect.raceFirst(step, lines)
}
