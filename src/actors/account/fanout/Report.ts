import { Effect } from "effect"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Report } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import * as StreamPublishing from "../StreamPublishing.ts"
import type { Slice } from "./Slice.ts"

/** A report: moderators are told. Made once a node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const fanouts = yield* Fanouts
  const writer = yield* NotificationWriter
  const { notified } = yield* StreamPublishing.make

  const slice: Slice<Report> = (own, at, { report }) =>
    owned(
      own,
      Effect.gen(function*() {
        yield* notified(yield* writer.reported(own.accountId, report))
        return yield* fanouts.complete(at)
      })
    )
  return slice
})
