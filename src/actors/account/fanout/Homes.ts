import { Effect } from "effect"
import { Feeds } from "../../../services/feeds/Feeds.ts"
import { AccountId } from "../../../services/Ids.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Homes } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import type { Slice } from "./Slice.ts"

/** Homes that are out of date are dropped. Made once a node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const fanouts = yield* Fanouts
  const feeds = yield* Feeds

  const slice: Slice<Homes> = (own, at, { readers }) =>
    owned(
      own,
      Effect.andThen(feeds.drop(readers.map((reader) => AccountId.make(reader))), fanouts.complete(at))
    )
  return slice
})
