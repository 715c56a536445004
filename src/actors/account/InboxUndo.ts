import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { ClientError } from "../../services/Errors.ts"
import { asForeign, type Foreign, idOf, typeOf } from "../../services/federation/documents/Reading.ts"
import { References } from "../../services/federation/inbox/References.ts"
import { RemoteStatuses } from "../../services/federation/inbox/RemoteStatuses.ts"
import { type Undoable, Undoables, type UndoableType } from "../../services/federation/inbox/Undoables.ts"
import { AccountId, StatusId } from "../../services/Ids.ts"
import { done, ignored, type Outcome } from "./InboxPosts.ts"
import type { Ownership } from "./Ownership.ts"
import type { RemoteSelf } from "./RemoteSelf.ts"
import type { Verbs } from "./Verbs.ts"

/**
 * What a remote account takes back, named in full or by its id alone; inside a transaction of its actor. The id of a boost
 * or a favourite that is not here is kept, so that it has no effect when it comes after all (row 10).
 */
export const make = Effect.fnUntraced(function*(verbs: Verbs) {
  const sql = yield* SqlClient.SqlClient
  const references = yield* References
  const statuses = yield* RemoteStatuses
  const undoables = yield* Undoables

  const take = (own: Ownership, { targetId, type }: Undoable) => {
    switch (type) {
      case "Follow":
        return verbs.Unfollow(own, { _tag: "Unfollow", target: AccountId.make(targetId) })
      case "Block":
        return verbs.Unblock(own, { _tag: "Unblock", target: AccountId.make(targetId) })
      case "Like":
        return verbs.Unfavourite(own, { _tag: "Unfavourite", statusId: StatusId.make(targetId) })
    }
  }

  const isOwnId = (self: RemoteSelf, uri: string) => URL.parse(uri)?.origin === URL.parse(self.uri)?.origin

  const byId = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, uri: string) {
    if (!isOwnId(self, uri)) return yield* ignored("an id of another server")
    const known = yield* undoables.take(own.accountId, uri)
    if (known !== undefined) return yield* Effect.as(take(own, known), done)
    const [boost] = yield* sql<{ reblogOfId: bigint }>`SELECT reblog_of_id FROM statuses
      WHERE uri = ${uri} AND account_id = ${own.accountId} AND reblog_of_id IS NOT NULL AND deleted_at IS NULL`
    yield* statuses.bury(own.accountId, uri)
    if (boost === undefined) return yield* ignored("nothing that is known")
    yield* verbs.Unreblog(own, { _tag: "Unreblog", statusId: StatusId.make(boost.reblogOfId) })
    return done
  })

  const onAccount = (own: Ownership, object: unknown, type: UndoableType): Outcome =>
    Effect.flatMap(
      references.localAccount(idOf(object) ?? ""),
      (targetId) => targetId === undefined ? ignored("nobody here") : Effect.as(take(own, { type, targetId }), done)
    )
  const onStatus = (
    object: unknown,
    act: (statusId: StatusId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      references.status(idOf(object) ?? ""),
      (statusId) => statusId === undefined ? ignored("an unknown post") : Effect.as(act(statusId), done)
    )

  const inFull = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, inner: Foreign) {
    const actor = idOf(inner["actor"])
    if (actor !== undefined && actor !== self.uri) return yield* ignored("nothing of its sender")
    const type = typeOf(inner, "Follow", "Like", "Announce", "Block")
    const uri = idOf(inner)
    const known = uri === undefined ? undefined : yield* undoables.take(own.accountId, uri)
    const late = type === "Announce" || (type === "Like" && known === undefined)
    if (late && uri !== undefined && isOwnId(self, uri)) yield* statuses.bury(own.accountId, uri)
    switch (type) {
      case "Follow":
      case "Block":
        return yield* onAccount(own, inner["object"], type)
      case "Like":
        return yield* onStatus(inner["object"], (targetId) => take(own, { type, targetId }))
      case "Announce":
        return yield* onStatus(inner["object"], (statusId) => verbs.Unreblog(own, { _tag: "Unreblog", statusId }))
    }
    return yield* ignored("nothing that can be undone")
  })

  const undo = (own: Ownership, self: RemoteSelf, object: unknown): Outcome => {
    if (typeof object === "string") return byId(own, self, object)
    const inner = asForeign(object)
    return inner === undefined ? ignored("nothing of its sender") : inFull(own, self, inner)
  }
  return { undo }
})
