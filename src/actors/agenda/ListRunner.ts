import { Effect, Layer } from "effect"
import { ListSync } from "../../services/lists/ListSync.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/** Syncs moderation lists when they are due: every node checks, and one node runs the sync. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(ListSync, ({ step }) => repeatEvery("1 second", "moderation lists", step))
)
