import { Effect } from "effect"
import type { AccountId } from "../../../services/database/Ids.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import type { ReaderSlice } from "../../../services/feeds/StatusReaders.ts"
import { ConversationWriter } from "../../../services/statuses/ConversationWriter.ts"
import * as Deliver from "./Deliver.ts"
import * as StreamPublishing from "./StreamPublishing.ts"

/**
 * First step of a new or edited status, before its followers: mentions, conversations and the intent for other servers.
 * Built once per node.
 */
export const make = Effect.gen(function*() {
  const conversations = yield* ConversationWriter
  const writer = yield* NotificationWriter
  const { conversationsChanged } = yield* StreamPublishing.make
  const deliver = yield* Deliver.enqueuer

  return Effect.fnUntraced(
    function*(author: AccountId, statusId: bigint, slice: ReaderSlice, activity: "Create" | "Update") {
      if (slice.mentioned.length > 0) yield* writer.notifyReaders("mention", author, statusId, slice.mentioned)
      if (activity === "Update") yield* writer.notifyOfEdit(author, statusId)
      if (slice.visibility === "direct" && !slice.limited) {
        yield* conversationsChanged(yield* conversations.record(statusId))
      }
      yield* deliver(author, statusId, activity, slice.federates)
    }
  )
})
