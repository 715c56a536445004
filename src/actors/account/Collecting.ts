import { Effect } from "effect"
import { CollectionWriter } from "../../services/collections/CollectionWriter.ts"
import { NotificationWriter } from "../../services/feeds/NotificationWriter.ts"
import type { Ownership } from "./Ownership.ts"
import { type Commands, onCollection } from "./Verbs.ts"

/** Collections of accounts that an account recommends, and its own place in those of others. */
export const make = Effect.gen(function*() {
  const collections = yield* CollectionWriter
  const notifications = yield* NotificationWriter

  const added = Effect.fnUntraced(function*(own: Ownership, id: bigint, targets: ReadonlyArray<bigint>) {
    const items = yield* collections.add(own.accountId, id, targets)
    const here = items.flatMap(({ accountId, local }) => local ? [accountId] : [])
    yield* notifications.tellAbout("added_to_collection", own.accountId, id, here)
    return items
  })

  const verbs = {
    CreateCollection: Effect.fnUntraced(function*(own: Ownership, { accountIds, said }: Commands["CreateCollection"]) {
      const id = yield* collections.create(own.accountId, said)
      if (accountIds.length > 0) yield* added(own, id, accountIds)
      return onCollection(id)
    }),
    UpdateCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, said }: Commands["UpdateCollection"]) {
        const significant = yield* collections.change(own.accountId, collectionId, said)
        if (significant === true) {
          const members = yield* collections.members(collectionId)
          yield* notifications.tellAbout("collection_update", own.accountId, collectionId, members)
        }
        return onCollection(collectionId)
      }
    ),
    DeleteCollection: Effect.fnUntraced(function*(own: Ownership, { collectionId }: Commands["DeleteCollection"]) {
      yield* collections.remove(own.accountId, collectionId)
      return onCollection(collectionId)
    }),
    AddToCollection: Effect.fnUntraced(function*(own: Ownership, command: Commands["AddToCollection"]) {
      const [item] = yield* added(own, command.collectionId, [command.target])
      return onCollection(item?.id ?? 0n)
    }),
    RemoveFromCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, itemId }: Commands["RemoveFromCollection"]) {
        yield* collections.take(own.accountId, collectionId, itemId)
        return onCollection(collectionId)
      }
    ),
    LeaveCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, itemId }: Commands["LeaveCollection"]) {
        yield* collections.revoke(own.accountId, collectionId, itemId)
        return onCollection(collectionId)
      }
    )
  }
  return { verbs }
})
