import { Effect } from "effect"
export const check = (..._: ReadonlyArray<unknown>) => Effect.succeed<ReadonlyArray<string>>([])
