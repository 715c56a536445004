import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import type { ClientError } from "../../services/Errors.ts"
import { visibilityOf } from "../../services/federation/documents/Addressing.ts"
import { foreignNote } from "../../services/federation/documents/ForeignNote.ts"
import { asForeign, type Foreign, idOf, idsOf, typeOf, urlReader } from "../../services/federation/documents/Reading.ts"
import { References } from "../../services/federation/inbox/References.ts"
import { RemoteStatuses } from "../../services/federation/inbox/RemoteStatuses.ts"
import type { AccountId, StatusId } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Reblogs } from "../../services/statuses/Reblogs.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import * as Intents from "./Intents.ts"
import { nextMillis, type Ownership } from "./Ownership.ts"
import type { Verbs } from "./Verbs.ts"

/** The remote account whose actor this is. */
export interface RemoteSelf {
  readonly uri: string
  readonly followersUrl: string | null
  readonly suspended: boolean
}

/** What became of an activity, for the record. */
type Outcome = Effect.Effect<string, ClientError | SqlError>

const done = "done"
const ignored = (why: string) => Effect.succeed(`ignored: ${why}`)

const known = [
  "Accept",
  "Announce",
  "Block",
  "Create",
  "Delete",
  "Follow",
  "Like",
  "Reject",
  "Undo",
  "Update"
] as const

/** What somebody who is suspended may still do: take back. */
const whileSuspended = new Set(["Delete", "Reject", "Undo", "Update"])

/**
 * What the activities of a remote account do, mostly what the account's own verbs do; inside a transaction of its actor.
 * Whatever they name is looked for here and not fetched, and belongs to whom it says only where that is the account itself
 * (row 8).
 */
export const make = Effect.fnUntraced(function*(verbs: Verbs) {
  const sql = yield* SqlClient.SqlClient
  const { outboundAllow } = yield* ServerConfig
  const broadcast = yield* Broadcast
  const intend = yield* Intents.make
  const references = yield* References
  const reblogs = yield* Reblogs
  const statuses = yield* RemoteStatuses
  const targets = yield* Targets
  const readUrl = urlReader(outboundAllow)

  const onAccount = (
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      references.localAccount(idOf(object) ?? ""),
      (target) => target === undefined ? ignored("nobody here") : Effect.as(act(target), done)
    )
  const onStatus = (
    object: unknown,
    act: (statusId: StatusId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      references.status(idOf(object) ?? ""),
      (statusId) => statusId === undefined ? ignored("an unknown post") : Effect.as(act(statusId), done)
    )

  const create = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown, now: number) {
    const document = asForeign(object)
    const note = document === undefined ? undefined : foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("no post of its sender")
    if (yield* statuses.isBuried(own.accountId, note.uri)) return yield* ignored("it was deleted")
    const parentId = note.inReplyTo === undefined ? undefined : yield* references.status(note.inReplyTo)
    const addressed = new Set(note.addressed)
    const named = yield* references.accounts([...new Set([...note.mentioned, ...note.addressed])])
    const mentions = [...named].flatMap(([uri, id]) => {
      // In a post for a few, whoever it is addressed to belongs to them.
      const counts = note.mentioned.includes(uri) || note.visibility === "direct"
      return counts && id !== own.accountId ? [{ id, addressed: addressed.has(uri) }] : []
    })
    const concerns = parentId !== undefined || mentions.some((mention) => mention.addressed) ||
      (yield* statuses.isFollowed(own.accountId))
    if (!concerns) return yield* ignored("it concerns nobody here")
    const id = yield* statuses.insert(own.accountId, { note, parentId, mentions })
    if (id === undefined) return yield* ignored("it is here already")
    yield* intend(own, "publish", id)
    yield* sql.afterCommit(Effect.andThen(
      broadcast.publish({ _tag: "Changed", kind: "account", ids: [own.accountId] }),
      parentId === undefined ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids: [parentId] })
    ))
    return done
  })

  const announce = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, activity: Foreign) {
    const statusId = yield* references.status(idOf(activity["object"]) ?? "")
    if (statusId === undefined) return yield* ignored("an unknown post")
    const uri = readUrl(activity["id"])
    if (uri === undefined || uri.origin !== URL.parse(self.uri)?.origin) {
      return yield* ignored("an id of another server")
    }
    if (yield* statuses.isBuried(own.accountId, uri.href)) return yield* ignored("it was undone")
    const target = yield* targets.visible(own.accountId, statusId)
    if (target.visibility === "direct" || target.visibility === "private") return yield* ignored("a post for a few")
    if (!target.local && !(yield* statuses.isFollowed(own.accountId))) return yield* ignored("it concerns nobody here")
    if ((yield* reblogs.find(own.accountId, target.id)) !== undefined) return yield* ignored("it is here already")
    const meant = visibilityOf({ to: idsOf(activity["to"]), cc: idsOf(activity["cc"]) }, self.followersUrl ?? undefined)
    const visibility = meant === "direct" ? "private" : meant
    const id = yield* reblogs.insert(own.accountId, target.id, visibility, yield* nextMillis(own))
    yield* sql`UPDATE statuses SET uri = ${uri.href}, local = false WHERE id = ${id}`
    yield* intend(own, "publish", id)
    if (target.local) {
      const notice = { type: "reblog", to: String(target.accountId), statusId: String(target.id) } as const
      yield* intend(own, "notify", null, notice)
    }
    yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [target.id] }))
    return done
  })

  const remove = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown) {
    const uri = idOf(object) ?? ""
    const url = readUrl(uri)
    if (url?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an id of another server")
    const statusId = yield* references.status(uri)
    const [mine] = statusId === undefined ? [] : yield* sql`SELECT FROM statuses
      WHERE id = ${statusId} AND account_id = ${own.accountId} AND deleted_at IS NULL`
    if (statusId !== undefined && mine === undefined) return yield* ignored("not its sender's, or gone")
    yield* statuses.bury(own.accountId, uri)
    if (statusId !== undefined) yield* verbs.Delete(own, { _tag: "Delete", statusId })
    return done
  })

  const undo = (own: Ownership, self: RemoteSelf, object: unknown): Outcome => {
    const inner = asForeign(object)
    const actor = idOf(inner?.["actor"])
    if (inner === undefined || (actor !== undefined && actor !== self.uri)) return ignored("nothing of its sender")
    switch (typeOf(inner, "Follow", "Like", "Announce", "Block")) {
      case "Follow":
        return onAccount(inner["object"], (target) => verbs.Unfollow(own, { _tag: "Unfollow", target }))
      case "Like":
        return onStatus(inner["object"], (statusId) => verbs.Unfavourite(own, { _tag: "Unfavourite", statusId }))
      case "Announce":
        return onStatus(inner["object"], (statusId) => verbs.Unreblog(own, { _tag: "Unreblog", statusId }))
      case "Block":
        return onAccount(inner["object"], (target) => verbs.Unblock(own, { _tag: "Unblock", target }))
      default:
        return ignored("nothing that can be undone")
    }
  }

  /** An answer to a follow of ours: only where we asked for it, and of the one whom we asked (row 16). */
  const answered = (
    self: RemoteSelf,
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome => {
    const follow = asForeign(object)
    return follow === undefined || typeOf(follow, "Follow") === undefined || idOf(follow["object"]) !== self.uri
      ? ignored("no follow of ours")
      : onAccount(follow["actor"], act)
  }

  const perform = (own: Ownership, self: RemoteSelf, activity: Foreign, receivedAt: number): Outcome =>
    Effect.suspend(() => {
      const type = typeOf(activity, ...known) ?? ""
      const object = activity["object"]
      if (self.suspended && !whileSuspended.has(type)) return ignored("its sender is suspended")
      switch (type) {
        case "Follow":
          return onAccount(
            object,
            (target) => verbs.Follow(own, { _tag: "Follow", target, reblogs: null, notify: null, languages: null })
          )
        case "Like":
          return onStatus(object, (statusId) => verbs.Favourite(own, { _tag: "Favourite", statusId }))
        case "Announce":
          return announce(own, self, activity)
        case "Create":
          return Effect.flatMap(Clock.currentTimeMillis, (now) => create(own, self, object, Math.min(now, receivedAt)))
        case "Delete":
          return idOf(object) === self.uri ? ignored("accounts are not deleted yet") : remove(own, self, object)
        case "Undo":
          return undo(own, self, object)
        case "Accept":
          return answered(self, object, (target) => verbs.AuthorizeFollow(own, { _tag: "AuthorizeFollow", target }))
        case "Reject":
          return answered(self, object, (target) =>
            Effect.catchTag(
              verbs.RejectFollow(own, { _tag: "RejectFollow", target }),
              "RecordNotFound",
              () => verbs.RemoveFollower(own, { _tag: "RemoveFollower", target })
            ))
        case "Block":
          return onAccount(object, (target) => verbs.Block(own, { _tag: "Block", target }))
        case "Update":
          // The profile is what its document says: it is due for another look, which no transaction can wait for.
          return idOf(object) === self.uri
            ? Effect.as(statuses.profileIsStale(own.accountId), done)
            : ignored("posts are not edited yet")
        default:
          return ignored("unknown")
      }
    })
  return { perform }
})
