import { Clock, Effect, Schema } from "effect"
import { ArchiveParts } from "../../services/transfers/archives/ArchiveParts.ts"
import { ArchiveRequests } from "../../services/transfers/archives/ArchiveRequests.ts"
import { ArchiveCursor, ArchiveWriter, firstCursor } from "../../services/transfers/archives/ArchiveWriter.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import type { TransferHandler } from "./TransferHandler.ts"

const CursorJson = Schema.toCodecJson(ArchiveCursor)
const decodeCursor = Schema.decodeUnknownEffect(CursorJson)
const encodeCursor = Schema.encodeEffect(CursorJson)

/** Archives to download, written a part at a time. */
export const make = Effect.gen(function*() {
  const archives = yield* ArchiveRequests
  const parts = yield* ArchiveParts
  const queue = yield* TransferQueue
  const writer = yield* ArchiveWriter

  const handler: TransferHandler = {
    step: Effect.fnUntraced(function*(claimed) {
      const { accountId, id } = claimed
      const cursor = claimed.cursor === null
        ? firstCursor(yield* Clock.currentTimeMillis)
        : yield* decodeCursor(claimed.cursor)
      const { added, cursor: next, entries, parts: written } = yield* writer.step(accountId, id, cursor)
      const progress = { cursor: yield* encodeCursor(next), added, processed: added }
      const end: StepEnd = { _tag: next.phase === "done" ? "Finished" : "More" }
      const write = Effect.gen(function*() {
        yield* parts.add(id, written, entries)
        if (next.phase === "done") yield* archives.retire(accountId, id)
      })
      return { claimed: yield* queue.commit(claimed, progress, write), end }
    })
  }
  return handler
})
