import { assert, layer } from "@effect/vitest"
import { Effect, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { AccountViews } from "../../../src/http/render/AccountViews.ts"
import { ownTopic } from "../../../src/http/streaming/Channels.ts"
import * as EventRouting from "../../../src/http/streaming/EventRouting.ts"
import { type Connection, Registry } from "../../../src/http/streaming/Registry.ts"
import { type AccountId, StatusId, TokenId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { settled } from "../../support/Actors.ts"
import { person } from "../../support/People.ts"
import { edit, post } from "../../support/Posts.ts"
import { counted } from "../../support/Reads.ts"
import { layerStreams } from "./Streams.ts"

const listening = (registry: Registry, accountId: AccountId, ...topics: ReadonlyArray<string>) =>
  listeningWith(true, registry, accountId, topics)

const listeningWith = (
  hearsNotifications: boolean,
  registry: Registry,
  accountId: AccountId,
  topics: ReadonlyArray<string>
) => {
  const connection: Connection = {
    accountId,
    tokenId: TokenId.make(1n),
    address: "192.0.2.1",
    exactAddress: "",
    hearsNotifications,
    supportedTypes: new Set(),
    supportedEvents: new Set(),
    send: () => undefined,
    end: () => undefined
  }
  registry.add(connection)
  for (const topic of topics) registry.subscribe(connection, { name: "public", topic, label: `["${topic}"]` })
  return connection
}

layer(layerStreams, { excludeTestServices: true })("Deliveries", (it) => {
  it.effect("take the same few queries for any number of listeners, and share equal bytes", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("author1")
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Hello #World") })
      yield* settled
      const readers = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => `reader1x${i}`),
        (name) => person(name)
      )
      const registry = new Registry()
      const { hasListeners, deliveryOf } = yield* EventRouting.make(registry)
      const update = {
        _tag: "StatusEvent",
        event: "update",
        statusId: StatusId.make(BigInt(id)),
        accountIds: [author, ...readers],
        channels: ["public", "public:local"]
      } as const
      assert.isFalse(hasListeners(update))
      const queriesFor = Effect.fnUntraced(function*(count: number) {
        for (const reader of readers.slice(registry.size, count)) listening(registry, reader, "public", "public:local")
        assert.isTrue(hasListeners(update))
        const { queries, value } = yield* counted(deliveryOf(update))
        return { queries, sendings: [...value] }
      })
      yield* queriesFor(1)
      const few = yield* queriesFor(2)
      const many = yield* queriesFor(40)
      // Filters of new listeners are queried once.
      assert.strictEqual(few.queries, 3)
      assert.strictEqual(many.queries, few.queries)
      assert.strictEqual((yield* queriesFor(40)).queries, 2)
      assert.strictEqual(many.sendings.length, 80)
      for (const label of [`["public"]`, `["public:local"]`]) {
        const bytes = many.sendings.filter(({ channel }) => channel.label === label)
          .map(({ channel, event }) => event.message(channel.label))
        assert.strictEqual(bytes.length, 40)
        assert.strictEqual(new Set(bytes).size, 1)
      }
      // The author also sees whether the post is pinned, so the author's bytes differ.
      listening(registry, author, ownTopic("user", author))
      const [own] = [...(yield* deliveryOf(update))]
      assert.strictEqual(JSON.parse(own!.event.payload!).pinned, false)
      assert.isUndefined(JSON.parse(many.sendings[0]!.event.payload!).pinned)
    }))

  it.effect("row 60: show an account like requests do, without its hidden fields", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* AccountActors
      const views = yield* AccountViews
      const author = yield* person("hidden3")
      yield* sql`UPDATE accounts SET hide_collections = true WHERE id = ${author}`
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Hello") })
      yield* settled
      const registry = new Registry()
      const { deliveryOf } = yield* EventRouting.make(registry)
      listening(registry, author, ownTopic("user", author))
      const routedEvents = yield* deliveryOf({
        _tag: "StatusEvent",
        event: "update",
        statusId: StatusId.make(BigInt(id)),
        accountIds: [author],
        channels: []
      })
      const [{ event }] = [...routedEvents] as [EventRouting.RoutedEvent]
      const { account } = JSON.parse(event.payload!)
      assert.deepStrictEqual(account, JSON.parse(yield* views.renderOne(author)))
      assert.isTrue(account.hide_collections)
    }))

  it.effect("F60: a late event of an edit that was followed by another is not shown as current", () =>
    Effect.scoped(Effect.gen(function*() {
      const actors = yield* AccountActors
      const broadcast = yield* Broadcast
      const author = yield* person("hurried4")
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("One") })
      yield* settled
      const registry = new Registry()
      const { deliveryOf } = yield* EventRouting.make(registry)
      listening(registry, author, ownTopic("user", author))
      const heard = yield* broadcast.subscribe
      for (const text of ["Two", "Three"]) {
        yield* actors.tell(author, edit(StatusId.make(BigInt(id)), text))
        yield* settled
      }
      const told: Array<string> = []
      for (let edits = 0; edits < 2;) {
        const message = yield* PubSub.take(heard)
        if (message._tag !== "StatusEvent") continue
        edits++
        for (const { event } of yield* deliveryOf(message)) told.push(JSON.parse(event.payload!).content)
      }
      assert.deepStrictEqual(told, ["<p>Three</p>"])
    })))

  it.effect("F60: an edit is shown in its current form, even before the change is announced", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("elsewhere6")
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("One") })
      yield* settled
      const registry = new Registry()
      const { deliveryOf } = yield* EventRouting.make(registry)
      listening(registry, author, ownTopic("user", author))
      const told = Effect.fnUntraced(function*(event: "update" | "status.update", editedAt: number) {
        const statusId = StatusId.make(BigInt(id))
        const message = {
          _tag: "StatusEvent",
          event,
          statusId,
          accountIds: [author],
          channels: [],
          editedAt
        } as const
        yield* Broadcast.use(({ publish }) => publish(message))
        const routedEvents = yield* deliveryOf(message)
        return Array.from(routedEvents, ({ event }) => JSON.parse(event.payload!).content)
      })
      assert.deepStrictEqual(yield* told("update", 1_000), ["<p>One</p>"])
      // An edit by another node whose broadcast is late.
      yield* sql`UPDATE statuses SET html = '<p>Two</p>', edited_at = ${new Date(1_000)} WHERE id = ${BigInt(id)}`
      assert.deepStrictEqual(yield* told("status.update", 1_000), ["<p>Two</p>"])
    }))

  it.effect("F60: mentioned accounts and followers get an edit once, in any number of messages", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("author5")
      const reader = yield* person("reader5")
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Hello @reader5") })
      yield* actors.tell(author, edit(StatusId.make(BigInt(id)), "Hello again @reader5"))
      yield* settled
      const registry = new Registry()
      const { deliveryOf } = yield* EventRouting.make(registry)
      const hearing = listening(registry, reader, ownTopic("user", reader))
      const deaf = listeningWith(false, registry, reader, [ownTopic("user", reader)])
      const told: Array<Connection> = []
      // The author is in the first slice of followers, the reader in a later one.
      for (const accountIds of [[author], [reader]]) {
        const statusId = StatusId.make(BigInt(id))
        const message = { _tag: "StatusEvent", event: "status.update", statusId, accountIds, channels: [] } as const
        for (const { connection } of yield* deliveryOf(message)) told.push(connection)
      }
      assert.deepStrictEqual(told, [hearing, deaf])
    }))

  it.effect("events cost nothing without listeners", () =>
    Effect.gen(function*() {
      const registry = new Registry()
      const account = yield* person("nobody2")
      const { hasListeners, deliveryOf } = yield* EventRouting.make(registry)
      const messages = [
        { _tag: "StatusDeleted", statusId: StatusId.make(1n), accountIds: [account], channels: ["public"] },
        { _tag: "NotificationCreated", accountId: account, notificationId: 1n },
        { _tag: "ConversationChanged", accountId: account, conversationId: 1n },
        { _tag: "FiltersChanged", accountId: account },
        { _tag: "Revoked", tokenIds: [1n], accountIds: [account] },
        { _tag: "Changed", kind: "status", ids: [1n] }
      ] as const
      for (const message of messages) assert.isFalse(hasListeners(message), message._tag)
      listening(registry, account, "public:remote")
      for (const message of messages.slice(1)) assert.isFalse(hasListeners(message), message._tag)
      assert.deepStrictEqual([...(yield* deliveryOf(messages[0]))], [])
    }))

  it.effect("F75: a status's deletion is not sent to accounts that its author blocks", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [author, blocked, other] = [yield* person("author75"), yield* person("blocked75"), yield* person("other75")]
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (next_id(1), ${author}, ${blocked})`
      const registry = new Registry()
      for (const one of [blocked, other]) listening(registry, one, "public", ownTopic("user", one))
      const { deliveryOf } = yield* EventRouting.make(registry)
      const gone = {
        _tag: "StatusDeleted",
        statusId: StatusId.make(5n),
        authorId: author,
        accountIds: [blocked, other],
        channels: ["public"]
      } as const
      const told = [...(yield* deliveryOf(gone))].map(({ connection }) => connection.accountId)
      assert.deepStrictEqual(told, [other, other])
    }))
})
