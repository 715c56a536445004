import { Effect } from "effect"
import { Broadcast } from "../../../services/events/Broadcast.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { KeptOut } from "../../../services/intents/Intent.ts"
import type { Owners } from "../core/Ownership.ts"
import type { Slice } from "./Slice.ts"

/**
 * Tells every node that an account may not act any more, in case the node that committed this died before it did. Built
 * once per node.
 */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts

  // Before the intent is completed: a node that dies in between leaves it to the next one.
  const slice: Slice<KeptOut> = (own, at) =>
    Effect.andThen(
      broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [own.accountId] }),
      owned(own, fanouts.complete(at))
    )
  return slice
})
