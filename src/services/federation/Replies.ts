import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsMax } from "../Paging.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { traced } from "../Traced.ts"
import * as LocalIds from "./LocalIds.ts"

/** Replies on a page of the collection. */
export const repliesPageMax = 60

export interface ReplyRow {
  readonly id: bigint
  readonly uri: string
}

/** What answers a status and is for everybody, by the ids that others know. */
export class Replies extends Context.Service<Replies, {
  /** The oldest first, above `minId`: the author's own ones, or those of others. */
  readonly page: (
    status: { readonly id: bigint; readonly accountId: bigint },
    whose: "own" | "others",
    minId: bigint
  ) => Effect.Effect<ReadonlyArray<ReplyRow>>
}>()("murmuration/services/federation/Replies") {
  static readonly layer = Layer.effect(
    Replies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const page: Replies["Service"]["page"] = traced("Replies.page")(function*({ accountId, id }, whose, minId) {
        const rows = yield* sql<{ id: bigint; uri: string | null; username: string }>`
          SELECT s.id, s.uri, a.username FROM statuses s JOIN accounts a ON a.id = s.account_id
          WHERE s.in_reply_to_id = ${id} AND s.id > ${minId} AND ${visibleTo(sql, undefined, "s")}
            AND s.account_id ${sql.literal(whose === "own" ? "=" : "<>")} ${accountId}
          ORDER BY s.id LIMIT ${rowsMax(sql, repliesPageMax)}`
        return rows.map(({ id, uri, username }) => ({ id, uri: uri ?? LocalIds.note(config, username, id) }))
      }, Effect.orDie)
      return Replies.of({ page })
    })
  )
}
