import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { emojiColumns, EmojiRow, isShown, namedAs } from "../../statuses/ReactionEmoji.ts"
import { isSuspended } from "../../visibility/SuspendedAccounts.ts"
import { undo } from "../documents/Activities.ts"
import { emojiDocument } from "../documents/EmojiDocument.ts"
import { react, reactionCollection, type ReactionOf } from "../documents/ReactionDocument.ts"
import type { Document } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import * as PairKey from "./PairKey.ts"

type Sent = Effect.Effect<HostNames, SqlError>

/** Maximum reactions in a post's collection. */
const collectedMax = 1_000

const Row = Schema.Struct({
  ...EmojiRow.fields,
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  statusId: Schema.BigInt,
  customEmojiId: Schema.NullOr(Schema.BigInt),
  updatedAt: Schema.NullOr(Timestamptz),
  actorPath: LocalIds.ActorPath,
  actor: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String),
  liked: Schema.Boolean,
  post: Schema.NullOr(Schema.String),
  authorId: Schema.BigInt,
  author: Schema.NullOr(Schema.String),
  authorPath: LocalIds.ActorPath
})
type Row = typeof Row.Type
const reactionRows = rowsOf(Row)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** Sends local accounts' reactions to the authors of their posts, and lists the reactions to local posts. */
export class ReactionActivities extends Context.Service<ReactionActivities, {
  /** Sends a reaction that was just stored. */
  readonly react: (reactionId: bigint) => Sent
  /** Sends the Undo of a reaction; call before its row is deleted. */
  readonly undo: (reactionId: bigint) => Sent
  /** Returns the reactions to a local post as a collection with this id (FEP-c0e0). */
  readonly collection: (id: string, statusId: bigint) => Effect.Effect<Document>
}>()("murmuration/services/federation/outbox/ReactionActivities") {
  static readonly layerNoDeps = Layer.effect(
    ReactionActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const outbox = yield* Outbox
      const none: HostNames = []

      const load = (which: Fragment) =>
        reactionRows(sql`
          SELECT c.id, c.account_id, c.status_id, c.custom_emoji_id, c.uri, c.liked, ${
          emojiColumns(sql)
        }, e.updated_at, me.actor_path,
            me.uri AS actor, s.uri AS post, s.account_id AS author_id, a.uri AS author, a.actor_path AS author_path
          FROM emoji_reactions c JOIN accounts me ON me.id = c.account_id JOIN statuses s ON s.id = c.status_id
            JOIN accounts a ON a.id = s.account_id LEFT JOIN custom_emojis e ON e.id = c.custom_emoji_id
          WHERE ${which} AND ${isShown(sql)} ORDER BY c.id LIMIT ${rowsMax(sql, collectedMax)}`)

      const tagOf = (row: Row): Document | undefined => {
        const { customEmojiId, domain, name: shortcode, updatedAt } = row
        if (customEmojiId === null) return undefined
        const { url } = namedAs(config, row)
        const picture = domain === null ? url : row.url
        const { id, ...emoji } = emojiDocument(config, {
          id: customEmojiId,
          shortcode,
          url: picture ?? "",
          staticUrl: picture ?? "",
          visibleInPicker: true,
          category: null,
          ...(updatedAt === null ? {} : { updatedAt })
        })
        // The id of a remote emoji belongs to its own server.
        return domain === null ? { id, ...emoji } : emoji
      }
      const reactionOf = (row: Row): ReactionOf => {
        const actor = row.actor ?? LocalIds.actor(config, row.actorPath)
        return {
          id: row.uri ?? `${actor}#reactions/${row.id}`,
          type: row.liked ? "Like" : "EmojiReact",
          actor,
          object: row.post ?? LocalIds.note(config, row.authorPath, row.statusId),
          content: row.customEmojiId === null ? row.name : `:${row.name}:`,
          tag: tagOf(row)
        }
      }

      const send = Effect.fnUntraced(function*(reactionId: bigint, undone: boolean) {
        if (!outbox.enabled) return none
        const [row] = yield* load(sql`c.id = ${reactionId} AND me.domain IS NULL AND s.uri IS NOT NULL`)
        if (row === undefined || row.author === null) return none
        const activity = react(reactionOf(row), row.author)
        return yield* outbox.toAccounts({
          senderId: row.accountId,
          about: PairKey.pairKey(row.accountId, row.statusId),
          activity: undone ? undo(activity) : activity
        }, [row.authorId])
      })

      return ReactionActivities.of({
        react: traced("ReactionActivities.react")((reactionId) => send(reactionId, false)),
        undo: traced("ReactionActivities.undo")((reactionId) => send(reactionId, true)),
        collection: traced("ReactionActivities.collection")(function*(id, statusId) {
          const rows = yield* load(sql`c.status_id = ${statusId} AND NOT ${isSuspended(sql, sql`c.account_id`)}`)
          const [total] = yield* countRows(
            sql`SELECT reactions_count AS count FROM status_stats WHERE status_id = ${statusId}`
          )
          return reactionCollection(id, rows.map(reactionOf), total?.count ?? 0)
        }, Effect.orDie)
      })
    })
  )
  static readonly layer = ReactionActivities.layerNoDeps.pipe(Layer.provide(Outbox.layer))
}
