import { Effect } from "effect"
import { CollectionWriter } from "../../../services/collections/CollectionWriter.ts"
import { FeatureActivities } from "../../../services/federation/outbox/FeatureActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onCollection } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"

/** Collections of recommended accounts: the account's own ones, and its membership in those of others. */
export const make = Effect.gen(function*() {
  const activities = yield* FeatureActivities
  const collections = yield* CollectionWriter
  const notifications = yield* NotificationWriter
  const send = yield* Sending.make

  const added = Effect.fnUntraced(function*(own: Ownership, id: bigint, targets: ReadonlyArray<bigint>) {
    const items = yield* collections.add(own.accountId, id, targets)
    const localIds = items.flatMap(({ accountId, local }) => local ? [accountId] : [])
    yield* notifications.notifyAbout("added_to_collection", own.accountId, id, localIds)
    const asked = items.flatMap(({ id, local }) => local ? [] : [id])
    yield* send(activities.request(own.accountId, id, asked))
    return items
  })

  const verbs = {
    CreateCollection: Effect.fnUntraced(
      function*(own: Ownership, { accountIds, said: change }: Commands["CreateCollection"]) {
        const id = yield* collections.create(own.accountId, change)
        if (accountIds.length > 0) yield* added(own, id, accountIds)
        yield* activities.tell(own.accountId, "AddCollection", id)
        return onCollection(id)
      }
    ),
    UpdateCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, said: change }: Commands["UpdateCollection"]) {
        const significant = yield* collections.change(own.accountId, collectionId, change)
        if (significant === true) {
          const members = yield* collections.members(collectionId)
          yield* notifications.notifyAbout("collection_update", own.accountId, collectionId, members)
        }
        if (significant !== undefined) yield* activities.tell(own.accountId, "UpdateCollection", collectionId)
        return onCollection(collectionId)
      }
    ),
    DeleteCollection: Effect.fnUntraced(function*(own: Ownership, { collectionId }: Commands["DeleteCollection"]) {
      const held = yield* collections.remove(own.accountId, collectionId)
      yield* activities.tell(own.accountId, "RemoveCollection", collectionId, 0n, held)
      return onCollection(collectionId)
    }),
    AddToCollection: Effect.fnUntraced(function*(own: Ownership, command: Commands["AddToCollection"]) {
      const [item] = yield* added(own, command.collectionId, [command.target])
      if (item?.local === true) yield* activities.tell(own.accountId, "AddItem", command.collectionId, item.id)
      return onCollection(item?.id ?? 0n)
    }),
    RemoveFromCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, itemId }: Commands["RemoveFromCollection"]) {
        const removedId = yield* collections.take(own.accountId, collectionId, itemId)
        const removedIds = removedId === undefined ? [] : [removedId]
        yield* activities.tell(own.accountId, "RemoveItem", collectionId, itemId, removedIds)
        return onCollection(collectionId)
      }
    ),
    LeaveCollection: Effect.fnUntraced(
      function*(own: Ownership, { collectionId, itemId }: Commands["LeaveCollection"]) {
        const owner = yield* collections.revoke(own.accountId, collectionId, itemId)
        yield* send(activities.withdraw(own.accountId, itemId))
        if (owner !== undefined) yield* activities.tell(owner, "RemoveItem", collectionId, itemId)
        return onCollection(collectionId)
      }
    )
  }
  return { verbs }
})

export type Collecting = Effect.Success<typeof make>
