import { Clock, Effect, Schema } from "effect"
import { StatusId } from "../../services/database/Ids.ts"
import { ImportedPosts } from "../../services/transfers/archives/ImportedPosts.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import { AccountActors } from "../account/core/AccountActors.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/** Posts that a step deletes. */
const deletedPerStep = 20

/** Options of an undo: the import whose posts are deleted, as a decimal string. */
const decodeOptions = Schema.decodeUnknownEffect(Schema.Struct({ importId: Schema.BigIntFromString }))

/**
 * Undoes of imports. A post that nobody interacted with is deleted without telling anyone, as nobody was told of it;
 * any other is deleted like a post that was written here, so that servers that fetched it learn of it.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const imported = yield* ImportedPosts
  const queue = yield* TransferQueue

  const handler: TransferHandler = {
    step: Effect.fnUntraced(function*(claimed) {
      const { accountId } = claimed
      const { importId } = yield* decodeOptions(claimed.options)
      const posts = yield* imported.added(accountId, importId, deletedPerStep)
      for (const { noticed, statusId } of posts) {
        if (!noticed) continue
        yield* actors.tell(accountId, { _tag: "Delete", statusId: StatusId.make(statusId), deleteMedia: true }).pipe(
          Effect.catchTag("RecordNotFound", () => Effect.void)
        )
      }
      const millis = yield* Clock.currentTimeMillis
      const count = posts.length
      const next = yield* queue.commit(
        claimed,
        { processed: count, removed: count },
        Effect.forEach(posts, ({ statusId }) => imported.remove(accountId, statusId, millis), { discard: true })
      )
      const end: StepEnd = count < deletedPerStep ? { _tag: "Finished" } : { _tag: "More" }
      return { claimed: next, end }
    })
  }
  return handler
})
