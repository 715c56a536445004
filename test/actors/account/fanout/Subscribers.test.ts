import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import { SliceRows } from "../../../../src/actors/account/fanout/Slice.ts"
import { type AccountId, StatusId } from "../../../../src/services/database/Ids.ts"
import { Broadcast, type BroadcastMessage } from "../../../../src/services/events/Broadcast.ts"
import { Feeds, listFeed } from "../../../../src/services/feeds/Feeds.ts"
import { fewReadersMax } from "../../../../src/services/feeds/StatusReaders.ts"
import { layerActors, settled } from "../../../support/Actors.ts"
import { followers, person } from "../../../support/People.ts"
import { edit, post } from "../../../support/Posts.ts"

/** Number of one reader's lists: more than one statement reads, over several slices of the other readers. */
const listsOfOne = 50
const sliceRows = 40

const lists = Effect.fnUntraced(function*(owner: AccountId, author: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const inserted = yield* sql<{ id: bigint }>`
    WITH made AS (INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
      SELECT next_id(${now}), ${owner}::bigint, 'list ' || n, 'list', false FROM generate_series(1, ${listsOfOne}::int) n RETURNING id),
    members AS (INSERT INTO list_accounts (id, list_id, account_id) SELECT next_id(${now}), id, ${author}::bigint FROM made)
    SELECT id FROM made`
  return inserted.map(({ id }) => id)
})

/** Returns the lists and homes that events of a status name, sorted, over all events. */
const told = (messages: ReadonlyArray<BroadcastMessage>, tag: "StatusEvent" | "StatusDeleted", event?: string) => {
  const events = messages.flatMap((message) =>
    message._tag === tag && (message._tag !== "StatusEvent" || message.event === event) ? [message] : []
  )
  const sorted = (ids: ReadonlyArray<bigint>) => ids.toSorted((a, b) => a < b ? -1 : 1)
  return {
    lists: sorted(events.flatMap((message) => message.lists ?? [])),
    accounts: sorted(events.flatMap(({ accountIds }) => accountIds))
  }
}

layer(layerActors.pipe(Layer.provide(Layer.succeed(SliceRows, sliceRows))), {
  excludeTestServices: true
})("Account publishes to readers besides followers", (it) => {
  it.effect("a status is pushed to each list and home once, in slices if they are many; so are its edit and its deletion", () =>
    Effect.gen(function*() {
      const [actors, feeds, sql] = [yield* AccountActors, yield* Feeds, yield* SqlClient.SqlClient]
      const author = yield* person("author")
      const readers = yield* Effect.forEach(["anna", "ben", "cleo"], (name) => person(name))
      const absent = yield* person("absent", { seenAt: 0 })
      yield* followers(author, readers.slice(0, 1))
      const held = (yield* Effect.forEach(readers, (reader) => lists(reader, author))).flat()
      yield* lists(absent, author)
      assert.isAbove(held.length, fewReadersMax)
      for (const reader of readers) {
        // A list with two matching hashtags is still one list.
        yield* actors.tell(reader, { _tag: "FollowTag", name: "birds" })
        yield* actors.tell(reader, { _tag: "FollowTag", name: "cats" })
      }
      yield* sql`INSERT INTO list_tags (id, list_id, tag_id) SELECT next_id(1), l, t.id
        FROM unnest(${held.slice(0, 5)}::bigint[]) l, tags t WHERE t.name = 'cats'`
      yield* settled
      const events = yield* (yield* Broadcast).subscribe
      const heard = Effect.map(settled, () => undefined).pipe(Effect.andThen(PubSub.takeAll(events)))
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("#birds and #cats") })
      const all = {
        lists: held.toSorted((a, b) => a < b ? -1 : 1),
        accounts: [author, ...readers].toSorted((a, b) => a < b ? -1 : 1)
      }
      assert.deepStrictEqual(told(yield* heard, "StatusEvent", "update"), all)
      for (const feed of [...held.map(listFeed), ...readers, author]) {
        yield* feeds.fill(feed, [])
        assert.deepStrictEqual((yield* feeds.read(feed))?.map((entry) => entry.id), [BigInt(id)], String(feed))
      }
      yield* actors.tell(author, edit(StatusId.make(BigInt(id)), "#birds, #cats and more"))
      assert.deepStrictEqual(told(yield* heard, "StatusEvent", "status.update"), all)
      yield* actors.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      const ends = told(yield* heard, "StatusDeleted")
      assert.includeMembers([...ends.lists], held)
      assert.strictEqual(new Set(ends.lists).size, ends.lists.length)
      assert.deepStrictEqual(ends.accounts, all.accounts)
    }).pipe(Effect.scoped))
})
