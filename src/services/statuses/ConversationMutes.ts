import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId, StatusId } from "../database/Ids.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"

/** Conversations without notifications for an account; private. */
export class ConversationMutes extends Context.Service<ConversationMutes, {
  /** Mutes the conversation of a status; the caller must have checked that the account may see it. */
  readonly mute: (accountId: AccountId, statusId: StatusId) => Effect.Effect<void>
  readonly unmute: (accountId: AccountId, statusId: StatusId) => Effect.Effect<void>
}>()("murmuration/services/statuses/ConversationMutes") {
  static readonly layer = Layer.effect(
    ConversationMutes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      return ConversationMutes.of({
        mute: traced("ConversationMutes.mute")(function*(accountId, statusId) {
          yield* tracked("relations", [accountId])(sql`INSERT INTO conversation_mutes (account_id, conversation_id)
            SELECT ${accountId}, conversation_id FROM statuses WHERE id = ${statusId} ON CONFLICT DO NOTHING`)
        }, Effect.orDie),
        unmute: traced("ConversationMutes.unmute")(function*(accountId, statusId) {
          yield* tracked("relations", [accountId])(sql`DELETE FROM conversation_mutes WHERE account_id = ${accountId}
            AND conversation_id = (SELECT conversation_id FROM statuses WHERE id = ${statusId})`)
        }, Effect.orDie)
      })
    })
  )
}
