import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId, StatusId } from "../../../services/database/Ids.ts"
import { rowsOf } from "../../../services/database/Rows.ts"
import { activityTypeOf, hasTrait, isOfTrait } from "../../../services/federation/documents/ActivityTypes.ts"
import { asForeign, type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import { isBefore } from "../../../services/federation/inbox/CountedIds.ts"
import { InboundActivities } from "../../../services/federation/inbox/InboundActivities.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { type Order, Tombstones } from "../../../services/federation/inbox/Tombstones.ts"
import * as Undoables from "../../../services/federation/inbox/Undoables.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { done, ignored, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import type { Verbs } from "../core/Verbs.ts"
import type * as InboxConsents from "./InboxConsents.ts"
import type * as InboxReactions from "./InboxReactions.ts"

const originalRows = rowsOf(Schema.Struct({ original: Schema.BigInt }))

const Existing = Schema.Struct({
  /** Id of the last activity that created it, if it is stored with the row. */
  uri: Schema.NullOr(Schema.String),
  /** The row's own id. */
  id: Schema.BigInt
})
type Existing = typeof Existing.Type
const existingRows = rowsOf(Existing)

/**
 * Undoes a remote account's activities, named in full or by id, inside a transaction of its actor. An Undo that arrives
 * before its activity is remembered; the activity then has no effect (row 10, scenario F17).
 */
export const make = Effect.fnUntraced(function*(
  verbs: Verbs,
  reactions: Effect.Success<typeof InboxReactions.make>,
  consents: Pick<Effect.Success<ReturnType<typeof InboxConsents.make>>, "unasked">
) {
  const sql = yield* SqlClient.SqlClient
  const inbound = yield* InboundActivities
  const knownUris = yield* KnownUris
  const tombstones = yield* Tombstones
  const undoables = yield* Undoables.Undoables

  /**
   * Returns true for ids of the sender's own server. Only those may be remembered, so that no account blocks another's
   * activities.
   */
  const isOwn = (self: InboundSender, id: string) => URL.parse(id)?.origin === URL.parse(self.uri)?.origin

  /**
   * Returns the existing block, follow, like, boost or reaction, with its activity's id if that is known; undefined if
   * it does not exist.
   */
  const existing = ({ accountId }: Ownership, type: Undoables.UndoableType, subject: bigint) => {
    const queries: Readonly<Record<Undoables.UndoableType, Effect.Effect<ReadonlyArray<Existing>, SqlError>>> = {
      Accept: existingRows(
        sql`SELECT NULL AS uri, id FROM follows WHERE account_id = ${subject} AND target_account_id = ${accountId}`
      ),
      Announce: existingRows(
        sql`SELECT uri, id FROM statuses WHERE account_id = ${accountId} AND reblog_of_id = ${subject} AND deleted_at IS NULL`
      ),
      EmojiReact: existingRows(
        sql`SELECT NULL AS uri, id FROM emoji_reactions WHERE account_id = ${accountId} AND id = ${subject}`
      ),
      Block: existingRows(
        sql`SELECT NULL AS uri, id FROM blocks WHERE account_id = ${accountId} AND target_account_id = ${subject}`
      ),
      Follow: existingRows(
        sql`SELECT uri, id FROM follows WHERE account_id = ${accountId} AND target_account_id = ${subject}
        UNION ALL SELECT uri, id FROM follow_requests WHERE account_id = ${accountId} AND target_account_id = ${subject}`
      ),
      Like: existingRows(
        sql`SELECT NULL AS uri, id FROM favourites WHERE account_id = ${accountId} AND status_id = ${subject}`
      )
    }
    return Effect.map(queries[type], ([row]) => row)
  }

  /**
   * Returns true if the activity with this id is not the one in effect: it was replaced under another id, or undone
   * before. A sender that missed the response may repeat (and re-sign) an Undo. `known`: an activity arrived under the
   * id; `came`: and was not undone. If the ids themselves show their order, that order counts, not the order of
   * arrival.
   */
  const isEarlier = Effect.fnUntraced(
    function*(
      { accountId }: Ownership,
      done: Undoables.Undoable,
      ownId: string,
      { came, known }: { readonly came: Undoables.DoneActivity | undefined; readonly known: boolean },
      { id, uri }: Existing
    ) {
      // The id of a boost whose id was released is followed by `#` and a number.
      if (uri !== null) {
        return uri !== ownId && !uri.startsWith(`${ownId}#`) &&
          (known || came !== undefined || isBefore(ownId, uri) === true)
      }
      if (known && came === undefined) return true
      const others = yield* undoables.same(accountId, done, id)
      return others.some((other) => isBefore(ownId, other.uri) ?? (came !== undefined && other.cameId > came.cameId))
    }
  )

  const undoActivity = (
    own: Ownership,
    type: Undoables.UndoableType,
    subject: bigint
  ): Effect.Effect<unknown, ClientError | SqlError> => {
    switch (type) {
      case "Accept":
        return verbs.RemoveFollower(own, { _tag: "RemoveFollower", target: AccountId.make(subject) })
      case "Announce":
        return verbs.Unreblog(own, { _tag: "Unreblog", statusId: StatusId.make(subject) })
      case "Block":
        return verbs.Unblock(own, { _tag: "Unblock", target: AccountId.make(subject) })
      case "Follow":
        return verbs.Unfollow(own, { _tag: "Unfollow", target: AccountId.make(subject) })
      case "EmojiReact":
        return reactions.remove(own, subject)
      case "Like":
        return Effect.andThen(
          reactions.unlike(own, subject),
          verbs.Unfavourite(own, { _tag: "Unfavourite", statusId: StatusId.make(subject) })
        )
    }
  }

  /** Returns the id of the account, reaction or status that the activity is about. */
  const subjectOf = (
    own: Ownership,
    self: InboundSender,
    type: Undoables.UndoableType,
    activity: Foreign
  ): Effect.Effect<bigint | undefined, SqlError> => {
    const object = idOf(activity["object"]) ?? ""
    if (type === "EmojiReact") return reactions.standing(own, self, activity)
    if (type === "Accept") return knownUris.localAccount(idOf(asForeign(activity["object"])?.["actor"]) ?? object)
    return type === "Follow" || type === "Block" ? knownUris.localAccount(object) : knownUris.status(object)
  }

  /** Undoes what the account did under an id. A boost is a status, so its id is not used again. */
  const byId = Effect.fnUntraced(function*(own: Ownership, id: string, by: Order) {
    const known = yield* undoables.take(own.accountId, id)
    if (known !== undefined) {
      const found = yield* existing(own, known.type, known.targetId)
      // A later activity under another id stays in effect.
      const hasLater = found !== undefined && (yield* isEarlier(own, known, id, { came: known, known: true }, found))
      return hasLater ? true : yield* Effect.as(undoActivity(own, known.type, known.targetId), true)
    }
    const [boost] = yield* originalRows(sql`SELECT reblog_of_id AS original FROM statuses
      WHERE uri = ${id} AND account_id = ${own.accountId} AND reblog_of_id IS NOT NULL AND deleted_at IS NULL`)
    if (boost === undefined) return false
    yield* tombstones.record(own.accountId, id, { by, awaited: false })
    return yield* Effect.as(undoActivity(own, "Announce", boost.original), true)
  })

  const undo = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, object: unknown, by: Order) {
    const inner = asForeign(object)
    const [actor, id] = [idOf(inner?.["actor"]), idOf(object)]
    if (actor !== undefined && actor !== self.uri) return yield* ignored("not an activity of the sender")
    const ownId = id !== undefined && isOwn(self, id) ? id : undefined
    // The activity was repeated under the same id in the meantime; some servers reuse ids (`RepeatedActivities`).
    const ended = ownId === undefined ? "unknown" : yield* inbound.end(own.accountId, ownId, by.signed)
    if (ended === "done later") return yield* ignored("superseded by a later activity")
    const of = inner && activityTypeOf(inner)
    const type = of !== undefined && hasTrait(of, "undoable") ? of : undefined
    const subject = inner !== undefined && type !== undefined ? yield* subjectOf(own, self, type, inner) : undefined
    const found = type !== undefined && subject !== undefined ? yield* existing(own, type, subject) : undefined
    if (type !== undefined && subject !== undefined && found !== undefined) {
      const came = ownId === undefined ? undefined : yield* undoables.take(own.accountId, ownId)
      const known = ended === "ended"
      if (ownId !== undefined && (yield* isEarlier(own, { type, targetId: subject }, ownId, { came, known }, found))) {
        // The earlier activity may still arrive late, and must not count then.
        if (!known && came === undefined) yield* tombstones.record(own.accountId, ownId, { by, awaited: true })
        return yield* ignored("superseded by a later activity")
      }
      if (ownId !== undefined && hasTrait(type, "boosts")) {
        yield* tombstones.record(own.accountId, ownId, { by, awaited: false })
      }
      yield* undoActivity(own, type, subject)
      return done
    }
    if (ownId === undefined) return yield* ignored("nothing to undo")
    if (yield* byId(own, ownId, by)) return done
    const unasked = yield* consents.unasked(own, ownId)
    // The request may arrive once more.
    if (unasked === done) yield* tombstones.record(own.accountId, ownId, { by, awaited: false })
    if (unasked !== undefined) return unasked
    yield* tombstones.record(own.accountId, ownId, { by, awaited: ended === "unknown" })
    return yield* ignored("not stored here; a later copy will be ignored")
  })

  /** Returns true if the activity was undone before it arrived; for boosts, `InboxBoosts` checks that itself. */
  const wasUndone = (own: Ownership, activity: Foreign, order: Order) =>
    (isOfTrait(activity, "undoable") && !isOfTrait(activity, "boosts")) || isOfTrait(activity, "asks")
      ? tombstones.isInForce(own.accountId, idOf(activity) ?? "", order)
      : Effect.succeed(false)

  return {
    /** Undoes an activity; `by` is the order of the Undo. */
    undo: (own: Ownership, self: InboundSender, object: unknown, by: Order): Outcome => undo(own, self, object, by),
    wasUndone
  }
})
