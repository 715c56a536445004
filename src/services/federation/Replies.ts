import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import * as LocalIds from "./LocalIds.ts"

/** Maximum replies on a page of the collection. */
export const repliesPageMax = 60

interface ReplyRow {
  readonly id: bigint
  readonly uri: string
}

const Row = Schema.Struct({ id: Schema.BigInt, uri: Schema.NullOr(Schema.String), actorPath: LocalIds.ActorPath })
type Row = typeof Row.Type
const replyRows = rowsOf(Row)
const threadRows = rowsOf(Schema.Struct({ conversationId: Schema.BigInt, actorPath: LocalIds.ActorPath }))

/** Thread that began here, and the id of the actor who began it. */
interface LocalThread {
  readonly conversation: bigint
  readonly author: string
}

/** Public replies to a status and posts of a thread, by their ActivityPub ids. */
export class Replies extends Context.Service<Replies, {
  /** Returns replies above `minId`, oldest first: the author's own, or those of other accounts. */
  readonly page: (
    status: { readonly id: bigint; readonly accountId: bigint },
    authorship: "own" | "others",
    minId: bigint
  ) => Effect.Effect<ReadonlyArray<ReplyRow>>
  /**
   * Finds a public local thread by its first post; undefined for other threads. `author` names the author of the post
   * of a thread that came from another server.
   */
  readonly threadOf: (root: bigint, author: bigint | undefined) => Effect.Effect<LocalThread | undefined>
  /** Returns a thread's public posts above `minId`, oldest first. */
  readonly thread: (conversation: bigint, minId: bigint) => Effect.Effect<ReadonlyArray<ReplyRow>>
}>()("murmuration/services/federation/Replies") {
  static readonly layer = Layer.effect(
    Replies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const named = (rows: ReadonlyArray<Row>) =>
        rows.map(({ actorPath, id, uri }) => ({ id, uri: uri ?? LocalIds.note(config, actorPath, id) }))
      const page: Replies["Service"]["page"] = traced("Replies.page")(function*({ accountId, id }, authorship, minId) {
        const rows = yield* replyRows(sql`
          SELECT s.id, s.uri, a.actor_path FROM statuses s JOIN accounts a ON a.id = s.account_id
          WHERE s.in_reply_to_id = ${id} AND s.id > ${minId} AND ${visibleTo(sql, undefined, "s")}
            AND s.account_id ${sql.literal(authorship === "own" ? "=" : "<>")} ${accountId}
          ORDER BY s.id LIMIT ${rowsMax(sql, repliesPageMax)}`)
        return named(rows)
      }, Effect.orDie)

      return Replies.of({
        page,
        threadOf: traced("Replies.threadOf")(function*(rootId, author) {
          const [root] = yield* threadRows(sql`SELECT s.conversation_id, a.actor_path FROM statuses s
            JOIN accounts a ON a.id = s.account_id LEFT JOIN conversations c ON c.id = s.conversation_id
            WHERE s.id = ${rootId} AND coalesce(c.root_id, s.conversation_id) = s.id AND s.local
              AND ${author === undefined ? sql`c.id IS NULL` : sql`c.id IS NOT NULL AND s.account_id = ${author}`}
              AND ${visibleTo(sql, undefined, "s")}`)
          return root && { conversation: root.conversationId, author: LocalIds.actor(config, root.actorPath) }
        }, Effect.orDie),
        thread: traced("Replies.thread")(function*(conversation, minId) {
          const rows = yield* replyRows(sql`
            SELECT s.id, s.uri, a.actor_path FROM statuses s JOIN accounts a ON a.id = s.account_id
            WHERE s.conversation_id = ${conversation} AND s.id > ${minId} AND s.reblog_of_id IS NULL
              AND ${visibleTo(sql, undefined, "s")} ORDER BY s.id LIMIT ${rowsMax(sql, repliesPageMax)}`)
          return named(rows)
        }, Effect.orDie)
      })
    })
  )
}
