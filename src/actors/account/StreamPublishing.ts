import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../services/Broadcast.ts"
import type { Written } from "../../services/feeds/NotificationWriter.ts"
import { AccountId } from "../../services/Ids.ts"

/** Tells streams of rows for single people, once the running transaction is committed; made once a node. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const each = (written: ReadonlyArray<Written>, tell: (one: Written) => Effect.Effect<void>) =>
    sql.afterCommit(Effect.forEach(written, tell, { discard: true }))

  return {
    /** Of new notifications. */
    notified: (written: ReadonlyArray<Written>) =>
      each(
        written,
        ({ accountId, id }) =>
          broadcast.publish({ _tag: "NotificationCreated", accountId: AccountId.make(accountId), notificationId: id })
      ),
    /** Of conversations that changed. */
    conversationsChanged: (changes: ReadonlyArray<Written>) =>
      each(
        changes,
        ({ accountId, id }) =>
          broadcast.publish({ _tag: "ConversationChanged", accountId: AccountId.make(accountId), conversationId: id })
      )
  }
})
