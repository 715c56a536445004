import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Counters from "../database/Counters.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { CustomEmojis } from "../instance/CustomEmojis.ts"
import { unicodeEmojiOf } from "../instance/Emoji.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { accountReactionsMax, customName, isEmoji, type ReactionEmoji, reactionsMax } from "./ReactionEmoji.ts"

/** Origin of a remote reaction. */
export interface RemoteReaction {
  readonly uri: string | undefined
  /** True if the reaction was sent as a Like. */
  readonly liked: boolean
}
const localReaction: RemoteReaction = { uri: undefined, liked: false }

const addedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, added: Schema.Boolean }))
const Emoji = Schema.Struct({ name: Schema.String, customEmojiId: Schema.NullOr(Schema.BigInt) })
const goneRows = rowsOf(Schema.Struct({ ...Emoji.fields, statusId: Schema.BigInt }))
/** Emoji reactions to statuses, written in the transaction of the reacting account. */
export class EmojiReactions extends Context.Service<EmojiReactions, {
  /** Resolves an emoji that a client names; one of another server only if the status already has it. */
  readonly find: (statusId: bigint, name: string) => Effect.Effect<ReactionEmoji | undefined, SqlError>
  /** Adds a reaction; returns its id, and if it is new. Undefined if a limit is reached. */
  readonly add: (
    accountId: bigint,
    statusId: bigint,
    emoji: ReactionEmoji,
    origin?: RemoteReaction
  ) => Effect.Effect<{ readonly id: bigint; readonly added: boolean } | undefined, SqlError>
  /** Returns the id of an account's reaction. */
  readonly standing: (
    accountId: bigint,
    statusId: bigint,
    emoji: ReactionEmoji
  ) => Effect.Effect<bigint | undefined, SqlError>
  /** Removes a reaction; returns its status. */
  readonly remove: (accountId: bigint, reactionId: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /** Removes an account's reactions that were sent as Likes; returns true if there were any. */
  readonly removeLiked: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns true if the account has any reaction to the status. */
  readonly any: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/EmojiReactions") {
  static readonly layer = Layer.effect(EmojiReactions, Effect.suspend(() => make)).pipe(
    Layer.provide(CustomEmojis.layer)
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const config = yield* ServerConfig
  const emojis = yield* CustomEmojis
  const ownDomains = new Set([config.localDomain, new URL(config.publicUrl).host])

  const find = Effect.fnUntraced(function*(statusId: bigint, name: string) {
    const unicode = unicodeEmojiOf(name)
    if (unicode !== undefined) return { name: unicode, emojiId: null }
    const custom = customName(name)
    if (custom === undefined) return undefined
    const { domain, shortcode } = custom
    if (domain === undefined || ownDomains.has(domain)) {
      const own = (yield* emojis.enabled).find((emoji) => emoji.shortcode === shortcode)
      return own === undefined ? undefined : { name: shortcode, emojiId: own.id }
    }
    const [remoteEmoji] = yield* idRows(sql`SELECT e.id FROM emoji_reaction_counts c
      JOIN custom_emojis e ON e.id = c.custom_emoji_id
      WHERE c.status_id = ${statusId} AND c.name = ${shortcode} AND e.domain = ${domain} AND NOT e.disabled`)
    return remoteEmoji === undefined ? undefined : { name: shortcode, emojiId: remoteEmoji.id }
  })

  const standing = Effect.fnUntraced(function*(accountId: bigint, statusId: bigint, emoji: ReactionEmoji) {
    const [row] = yield* idRows(sql`SELECT r.id FROM emoji_reactions r
      WHERE r.account_id = ${accountId} AND r.status_id = ${statusId} AND ${isEmoji(sql, "r", emoji)}`)
    return row?.id
  })

  const add: EmojiReactions["Service"]["add"] = traced("EmojiReactions.add")(
    function*(accountId, statusId, emoji, { liked, uri } = localReaction) {
      const { emojiId, name } = emoji
      const counted = (alias: string) => isEmoji(sql, alias, emoji)
      // Concurrent reactions with emoji new to the status are serialised, so that the next statement counts all of
      // them.
      yield* sql`SELECT pg_advisory_xact_lock(${statusId}) WHERE NOT EXISTS (SELECT FROM emoji_reaction_counts c
        WHERE c.status_id = ${statusId} AND ${counted("c")})`
      const [row] = yield* addedRows(sql`
        WITH known AS (SELECT r.id FROM emoji_reactions r
          WHERE r.account_id = ${accountId} AND r.status_id = ${statusId} AND ${isEmoji(sql, "r", emoji)}),
        made AS (INSERT INTO emoji_reactions (id, account_id, status_id, name, custom_emoji_id, uri, liked)
          SELECT next_id(${yield* Clock.currentTimeMillis}), ${accountId}, ${statusId}, ${name}, ${emojiId}::bigint,
            ${uri ?? null}, ${liked}
          WHERE NOT EXISTS (SELECT FROM known)
            -- It may be gone since it was found.
            AND (${emojiId}::bigint IS NULL OR EXISTS (SELECT FROM custom_emojis WHERE id = ${emojiId} FOR KEY SHARE))
            AND (SELECT count(*) FROM emoji_reactions r WHERE r.account_id = ${accountId} AND r.status_id = ${statusId})
              < ${accountReactionsMax}
            AND (EXISTS (SELECT FROM emoji_reaction_counts c WHERE c.status_id = ${statusId} AND ${counted("c")})
              OR (SELECT count(*) FROM emoji_reaction_counts c WHERE c.status_id = ${statusId})
                -- Those of this transaction are counted at its end.
                + (SELECT count(*) FROM emoji_reactions r WHERE r.account_id = ${accountId} AND r.status_id = ${statusId}
                  AND NOT EXISTS (SELECT FROM emoji_reaction_counts c WHERE c.status_id = r.status_id AND c.name = r.name
                    AND coalesce(c.custom_emoji_id, 0) = coalesce(r.custom_emoji_id, 0))) < ${reactionsMax})
          ON CONFLICT DO NOTHING RETURNING id)
        SELECT id, true AS added FROM made UNION ALL SELECT id, false FROM known`)
      if (row?.added) yield* Counters.count({ sql, tracked }, [], [{ statusId, reaction: { name, emojiId, by: 1 } }])
      return row
    }
  )

  const removeWhere = Effect.fnUntraced(function*(which: Fragment) {
    const removed = yield* goneRows(
      sql`DELETE FROM emoji_reactions r WHERE ${which} RETURNING r.status_id, r.name, r.custom_emoji_id`
    )
    yield* Effect.forEach(
      removed,
      ({ customEmojiId: emojiId, name, statusId }) =>
        Counters.count({ sql, tracked }, [], [{ statusId, reaction: { name, emojiId, by: -1 } }])
    )
    return removed
  })

  return EmojiReactions.of({
    find: traced("EmojiReactions.find")(find),
    add,
    standing: traced("EmojiReactions.standing")(standing),
    remove: traced("EmojiReactions.remove")((accountId, reactionId) =>
      Effect.map(
        removeWhere(sql`r.id = ${reactionId} AND r.account_id = ${accountId}`),
        ([gone]) => gone?.statusId
      )
    ),
    removeLiked: traced("EmojiReactions.removeLiked")((accountId, statusId) =>
      Effect.map(
        removeWhere(sql`r.account_id = ${accountId} AND r.status_id = ${statusId} AND r.liked`),
        (gone) => gone.length > 0
      )
    ),
    any: traced("EmojiReactions.any")((accountId, statusId) =>
      Effect.map(
        sql`SELECT FROM emoji_reactions WHERE account_id = ${accountId} AND status_id = ${statusId} LIMIT 1`,
        (rows) => rows.length > 0
      )
    )
  })
})
