import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { Conversation } from "../../../src/http/wire/Conversation.ts"
import { Notification } from "../../../src/http/wire/Notification.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { NotificationWriter } from "../../../src/services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../src/services/intents/Fanouts.ts"
import { allowedMillis } from "../../support/MachineSpeed.ts"
import { followers, person } from "../../support/People.ts"
import { edit, post } from "../../support/Posts.ts"
import { connect, layerStreams, listener, mark, tokenOf } from "./Streams.ts"

const decodeStatus = Schema.decodeUnknownEffect(Schema.fromJsonString(Status))
const decodeNotification = Schema.decodeUnknownEffect(Schema.fromJsonString(Notification))
const decodeConversation = Schema.decodeUnknownEffect(Schema.fromJsonString(Conversation))

const streams = Layer.merge(Fanouts.layer, NotificationWriter.layer).pipe(Layer.provideMerge(layerStreams))

layer(streams, { excludeTestServices: true })("Streams", (it) => {
  it.effect("S-007: carry a follower's home as it changes: update, status.update, delete", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("author1")
      const reader = yield* listener("reader1", "?stream=user")
      yield* followers(author, [reader.account])
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Hello #World") })
      const update = yield* reader.next
      assert.deepStrictEqual([update.stream, update.event], [["user"], "update"])
      const status = yield* decodeStatus(update.payload)
      assert.strictEqual(status.id, id)
      assert.deepStrictEqual([status.favourited, status.muted, status.filtered], [false, false, []])
      yield* actors.tell(author, edit(StatusId.make(BigInt(id)), "Hello again"))
      const changed = yield* reader.next
      assert.deepStrictEqual([changed.stream, changed.event], [["user"], "status.update"])
      assert.include((yield* decodeStatus(changed.payload)).content, "Hello again")
      yield* actors.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      assert.deepStrictEqual(yield* reader.next, { stream: ["user"], event: "delete", payload: id })
    }).pipe(Effect.scoped))

  it.effect("row 69: open channels by the token's scopes, and show notifications only to a token that may read them", () =>
    Effect.gen(function*() {
      const noScope = { error: "Access token does not have the required scopes", status: 401 }
      const writer = yield* listener("writer8", "?stream=public", "write", "follow")
      assert.deepStrictEqual(yield* writer.next, noScope)
      const posts = yield* listener("posts8", "?stream=user", "read:statuses")
      yield* posts.send({ type: "subscribe", stream: "user:notification" })
      assert.deepStrictEqual(yield* posts.next, noScope)
      const { secret } = yield* tokenOf(posts.account, "read:notifications")
      const bell = yield* connect({ query: "?stream=user:notification", protocol: secret })
      yield* bell.send({ type: "subscribe", stream: "user" })
      assert.deepStrictEqual(yield* bell.next, noScope)
      const both = yield* tokenOf(posts.account, "read")
      const all = yield* connect({ query: "?stream=user", protocol: both.secret })
      yield* all.send({ type: "subscribe", stream: "nonsense" })
      yield* all.next

      const actors = yield* AccountActors
      const admirer = yield* person("admirer8")
      yield* actors.tell(admirer, {
        _tag: "Follow",
        target: posts.account,
        reblogs: null,
        notify: null,
        languages: null
      })
      for (const [{ next }, stream] of [[bell, "user:notification"], [all, "user"]] as const) {
        const { event, payload, ...frame } = yield* next
        assert.deepStrictEqual([frame.stream, event], [[stream], "notification"])
        const notification = yield* decodeNotification(payload)
        assert.deepStrictEqual([notification.type, notification.account.id], ["follow", String(admirer)])
      }
      yield* mark(posts.account)
      assert.strictEqual((yield* posts.next).event, "filters_changed")
    }).pipe(Effect.scoped))

  it.effect("a notification of any type arrives at once, whether its writer publishes to the streams or wakes the actor by an intent", () =>
    Effect.gen(function*() {
      const [fanouts, notifications] = [yield* Fanouts, yield* NotificationWriter]
      const admirer = yield* person("admirer10")
      const reader = yield* listener("reader10", "?stream=user:notification")
      yield* followers(reader.account, [admirer])
      const told = { type: "follow", to: reader.account } as const
      // Much earlier than a sweep for remaining notifications.
      const arrives = Effect.timeoutOrElse(reader.next, {
        duration: allowedMillis(4_000),
        orElse: () => Effect.die("too late")
      })
      const arrived = Effect.flatMap(arrives, ({ payload }) => decodeNotification(payload))
      const sql = yield* SqlClient.SqlClient

      yield* notifications.notify(admirer, told)
      assert.strictEqual((yield* arrived).type, "follow")
      yield* notifications.retractFollow(admirer, reader.account)
      yield* sql.withTransaction(fanouts.enqueue(admirer, { _tag: "notify", ...told }))
      assert.strictEqual((yield* arrived).type, "follow")
    }).pipe(Effect.scoped))

  it.effect("S-262: send filter changes only to their owner, without a payload", () =>
    Effect.gen(function*() {
      const one = yield* listener("filters9", "?stream=user")
      const other = yield* listener("other9", "?stream=user")
      yield* mark(one.account)
      yield* mark(other.account)
      assert.strictEqual(yield* one.text, `{"stream":["user"],"event":"filters_changed"}`)
      assert.strictEqual((yield* other.next).event, "filters_changed")
      assert.deepStrictEqual(yield* other.waiting, [])
    }).pipe(Effect.scoped))

  it.effect("S-260, S-092: carry conversations on `direct`, only to participants", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const [one, two, three] = [
        yield* listener("one10", "?stream=direct"),
        yield* listener("two10", "?stream=direct"),
        yield* listener("three10", "?stream=direct")
      ]
      yield* three.send({ type: "subscribe", stream: "user" })
      yield* followers(one.account, [two.account])
      const { id } = yield* actors.tell(one.account, {
        _tag: "Publish",
        post: post("@two10 psst", { visibility: "direct" })
      })
      for (const [{ next }, unread, other] of [[one, false, two.account], [two, true, one.account]] as const) {
        const { event, payload, stream } = yield* next
        assert.deepStrictEqual([stream, event], [["direct"], "conversation"])
        const conversation = yield* decodeConversation(payload)
        assert.deepStrictEqual([conversation.unread, conversation.last_status?.id], [unread, id])
        assert.deepStrictEqual(conversation.accounts.map((account) => account.id), [String(other)])
      }
      yield* mark(three.account)
      assert.strictEqual((yield* three.next).event, "filters_changed")
    }).pipe(Effect.scoped))

  it.effect("S-007: an edit is sent once to accounts that it mentions, with or without follows", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("author11")
      const follower = yield* listener("follower11", "?stream=user")
      const stranger = yield* listener("stranger11", "?stream=user:notification")
      yield* followers(author, [follower.account])
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Hi @follower11 and @stranger11") })
      const firsts = [(yield* follower.next).event, (yield* follower.next).event]
      assert.sameMembers(firsts, ["update", "notification"])
      assert.strictEqual((yield* stranger.next).event, "notification")
      yield* actors.tell(author, edit(StatusId.make(BigInt(id)), "Bye @follower11 and @stranger11"))
      for (const [reader, stream] of [[follower, "user"], [stranger, "user:notification"]] as const) {
        const { event, payload, stream: name } = yield* reader.next
        assert.deepStrictEqual([name, event], [[stream], "status.update"])
        assert.include((yield* decodeStatus(payload)).content, "Bye")
      }
      yield* mark(follower.account)
      assert.strictEqual((yield* follower.next).event, "filters_changed")
      assert.deepStrictEqual(yield* stranger.waiting, [])
    }).pipe(Effect.scoped))

  it.effect("F20: a deletion is sent only to accounts that could see the status", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("author20")
      const named = yield* listener("named20", "?stream=user")
      const other = yield* listener("other20", "?stream=user")
      yield* followers(author, [named.account, other.account])
      const publishTo = (text: string, visibility: "private" | "direct") =>
        actors.tell(author, { _tag: "Publish", post: post(text, { visibility }) })
      const forAll = yield* publishTo("Hi followers", "private")
      const forOne = yield* publishTo("@named20 psst", "direct")
      assert.strictEqual((yield* other.next).event, "update")
      const before = [yield* named.next, yield* named.next, yield* named.next].map(({ event }) => event)
      assert.sameMembers(before, ["update", "update", "notification"])
      for (const { id } of [forOne, forAll]) {
        yield* actors.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      }
      assert.deepStrictEqual(
        [(yield* named.next).payload, (yield* named.next).payload].toSorted(),
        [forOne.id, forAll.id].toSorted()
      )
      assert.deepStrictEqual(yield* other.next, { stream: ["user"], event: "delete", payload: forAll.id })
      yield* mark(other.account)
      assert.strictEqual((yield* other.next).event, "filters_changed")
    }).pipe(Effect.scoped))
})
