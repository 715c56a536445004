import { Effect, Layer } from "effect"
import { ListSync } from "../../services/lists/ListSync.ts"
import { every } from "./ClaimRounds.ts"

/** Looks at moderation lists when they are due: every node asks, and one of them does it. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(ListSync, ({ step }) => every("1 second", "moderation lists", step))
)
