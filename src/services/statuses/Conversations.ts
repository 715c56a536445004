import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

/** A conversation in its owner's list: direct messages among the same people. */
export const ConversationRecord = Schema.Struct({
  id: Schema.BigInt,
  unread: Schema.Boolean,
  /** Other participants; empty in a conversation with oneself. */
  participantIds: Schema.Array(Schema.BigInt),
  /** Newest status; the paging cursor. */
  lastStatusId: Schema.BigInt
})
export type ConversationRecord = typeof ConversationRecord.Type
const conversationRows = rowsOf(ConversationRecord)

/** Reads conversations, and writes their private state: the unread mark and removal. */
export class Conversations extends Context.Service<Conversations, {
  /** Returns a page by the id of the last status. */
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<ConversationRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<ConversationRecord, RecordNotFound>
  readonly mark: (owner: AccountId, id: bigint, unread: boolean) => Effect.Effect<ConversationRecord, RecordNotFound>
  /** Removes a conversation from the owner's list; the statuses are kept. */
  readonly remove: (owner: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/statuses/Conversations") {
  static readonly layer = Layer.effect(
    Conversations,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal("id, unread, participant_ids, last_status_id")
      const only = (rows: ReadonlyArray<ConversationRecord>) => {
        const [row] = rows
        return row === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(row)
      }

      const page = traced("Conversations.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "last_status_id", page)
        const rows = yield* conversationRows(sql`
          SELECT ${columns} FROM account_conversations WHERE account_id = ${owner} AND ${where} ${tail}`)
        return newestFirst(page, rows)
      }, Effect.orDie)

      return Conversations.of({
        page,
        find: traced("Conversations.find")((owner, id) =>
          conversationRows(sql`
            SELECT ${columns} FROM account_conversations WHERE id = ${id} AND account_id = ${owner}`).pipe(
            Effect.orDie,
            Effect.flatMap(only)
          )
        ),
        mark: traced("Conversations.mark")((owner, id, unread) =>
          conversationRows(sql`UPDATE account_conversations SET unread = ${unread}
            WHERE id = ${id} AND account_id = ${owner} RETURNING ${columns}`).pipe(Effect.orDie, Effect.flatMap(only))
        ),
        remove: traced("Conversations.remove")((owner, id) =>
          conversationRows(sql`DELETE FROM account_conversations
            WHERE id = ${id} AND account_id = ${owner} RETURNING ${columns}`).pipe(
            Effect.orDie,
            Effect.flatMap(only),
            Effect.asVoid
          )
        )
      })
    })
  )
}
