import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { StatusId } from "../../../services/database/Ids.ts"
import { rowsOf } from "../../../services/database/Rows.ts"
import { activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import { asText, type Foreign, idOf, urlReader } from "../../../services/federation/documents/ForeignValues.ts"
import { contentOf, emojiOf } from "../../../services/federation/documents/ReactionDocument.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteEmojis } from "../../../services/federation/inbox/RemoteEmojis.ts"
import { unicodeEmojiOf } from "../../../services/instance/Emoji.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { EmojiReactions } from "../../../services/statuses/EmojiReactions.ts"
import { customName, type ReactionEmoji } from "../../../services/statuses/ReactionEmoji.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import * as Gates from "../core/Gates.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Reacting from "../verbs/Reacting.ts"

const knownRows = rowsOf(Schema.Struct({ id: Schema.BigInt, domain: Schema.String }))

/** Maximum length of an id that is shown to others, in characters. */
const uriCharactersMax = 2_000

/** Domain by which Misskey means the sending server in a reaction. */
const senderItself = "."

/** Handles a remote account's reactions: an EmojiReact, or a Like with an emoji (FEP-c0e0, Misskey). */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const gates = yield* Gates.make
  const knownUris = yield* KnownUris
  const reacting = yield* Reacting.make
  const reactions = yield* EmojiReactions
  const remoteEmojis = yield* RemoteEmojis
  const statusTargets = yield* StatusTargets
  const readUrl = urlReader(config.outboundAllow)
  const ownHost = new URL(config.publicUrl).host

  /** Returns the custom emoji of the first of these servers that has it. */
  const known = Effect.fnUntraced(function*(name: string, domains: ReadonlyArray<string>) {
    const rows = yield* knownRows(sql`SELECT id, domain FROM custom_emojis
      WHERE shortcode = ${name} AND domain = ANY (${domains}::text[]) AND NOT disabled`)
    const found = domains.flatMap((domain) => rows.find((row) => row.domain === domain) ?? [])[0]
    return found && { name, emojiId: found.id }
  })

  /**
   * Returns the emoji of a reaction. An image in the activity is used only for the sender's own emoji: no server
   * defines another one's. Emoji of other servers must be known already.
   */
  const named = Effect.fnUntraced(function*(
    self: InboundSender,
    activity: Foreign,
    statusId: bigint
  ): Effect.fn.Return<ReactionEmoji | undefined, SqlError> {
    const content = contentOf(activity)
    if (content === undefined) return undefined
    const unicode = unicodeEmojiOf(content)
    if (unicode !== undefined) return { name: unicode, emojiId: null }
    const custom = customName(content)
    if (custom === undefined) return undefined
    const { domain, shortcode } = custom
    const sender = new URL(self.uri).host
    if (domain !== undefined && domain !== senderItself && domain !== sender) {
      return yield* reactions.find(statusId, `${shortcode}@${domain}`)
    }
    const received = emojiOf(activity, content, readUrl)
    if (received === undefined) return yield* known(shortcode, [sender])
    const { emoji, origin = sender } = received
    if (origin === ownHost) return yield* reactions.find(statusId, shortcode)
    const originEmoji = origin === sender ? undefined : yield* known(shortcode, [origin])
    if (originEmoji !== undefined) return originEmoji
    yield* remoteEmojis.keep(sender, [emoji])
    return yield* known(shortcode, [sender])
  })

  /** Returns the activity's id; undefined if it is of another server. */
  const ownId = (self: InboundSender, activity: Foreign) => {
    const id = asText(idOf(activity), uriCharactersMax)
    return id !== undefined && URL.parse(id)?.origin === URL.parse(self.uri)?.origin ? id : undefined
  }

  const react = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, activity: Foreign, statusId: StatusId) {
      const liked = activityTypeOf(activity) !== "EmojiReact"
      if (liked && contentOf(activity) === undefined) return undefined
      const target = yield* statusTargets.visible(own.accountId, statusId)
      const agreement = yield* gates.agreed(own.accountId, target, "favourite")
      if (agreement === undefined || agreement === "asks") return undefined
      const emoji = yield* named(self, activity, target.id)
      if (emoji === undefined) return undefined
      // An account has one reaction from Likes at most: the earlier one was undone, even if its Undo never arrived.
      if (liked && (yield* reactions.standing(own.accountId, target.id, emoji)) === undefined) {
        yield* reacting.unlike(own, target.id)
      }
      return yield* reacting.add(own, target, emoji, { uri: ownId(self, activity), liked })
    }
  )

  return {
    /** Handles an EmojiReact; `remember` stores the reaction's id for a later Undo. */
    received: Effect.fnUntraced(function*(
      own: Ownership,
      self: InboundSender,
      activity: Foreign,
      remember: (reactionId: bigint) => Effect.Effect<void, SqlError>
    ) {
      const statusId = yield* knownUris.status(idOf(activity["object"]) ?? "")
      if (statusId === undefined) return yield* ignored("an unknown post")
      const reactionId = yield* react(own, self, activity, statusId)
      if (reactionId === undefined) return yield* ignored("unknown emoji, or too many reactions")
      return yield* Effect.as(remember(reactionId), done)
    }),
    /** Adds a reaction. Returns its id; undefined if there is no known emoji or the limit is reached. */
    react,
    /** Returns the id of the existing reaction that an Undo names. */
    standing: Effect.fnUntraced(function*(own: Ownership, self: InboundSender, activity: Foreign) {
      const statusId = yield* knownUris.status(idOf(activity["object"]) ?? "")
      const emoji = statusId === undefined ? undefined : yield* named(self, activity, statusId)
      return statusId === undefined || emoji === undefined
        ? undefined
        : yield* reactions.standing(own.accountId, statusId, emoji)
    }),
    remove: reacting.remove,
    unlike: reacting.unlike
  }
})
