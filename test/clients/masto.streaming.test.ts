import { assert, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import type { mastodon } from "masto"
import { TestServer } from "../support/Server.ts"
import { conforms, newcomer, stream } from "./Masto.ts"

type Event = mastodon.streaming.Event

/**
 * Receives the events of a subscription; `next` waits for one. The client subscribes on first use, without reporting
 * when it has.
 */
const events = Effect.fnUntraced(function*(subscription: mastodon.streaming.Subscription) {
  const queue = yield* Queue.unbounded<Event>()
  const running = (async () => {
    for await (const event of subscription) Queue.offerUnsafe(queue, event)
  })()
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => {
      subscription.unsubscribe()
      return Promise.race([running.catch(() => undefined), Promise.resolve()])
    })
  )
  return { next: Queue.take(queue), waiting: Queue.clear(queue) }
})

layer(TestServer.layer(), { excludeTestServices: true })("masto: streaming", (it) => {
  it.effect("S-260, S-268: one socket carries posts, edits, deletions, notifications and conversations to their channels", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newcomer("ada"), yield* newcomer("bob")]
      yield* Effect.promise(() => bob.api.v1.accounts.$select(ada.id).follow())
      const socket = yield* stream(bob.token)
      yield* Effect.promise(() => socket.prepare())
      const bells = yield* events(socket.user.notification.subscribe())
      const everybody = yield* events(socket.public.local.subscribe())
      const tagged = yield* events(socket.hashtag.subscribe({ tag: "Tea" }))
      const direct = yield* events(socket.direct.subscribe())
      const user = yield* events(socket.user.subscribe())
      yield* Effect.promise(() => bob.api.v1.statuses.create({ status: "is this thing on" }))
      // The server processes subscriptions in order, so all are active once the last one is.
      assert.strictEqual((yield* user.next).event, "update")
      yield* everybody.waiting

      const posted = yield* Effect.promise(() => ada.api.v1.statuses.create({ status: "#tea time" }))
      for (
        const [channel, name] of [[user, ["user"]], [everybody, ["public:local"]], [tagged, [
          "hashtag",
          "Tea"
        ]]] as const
      ) {
        const event = yield* channel.next
        assert.deepStrictEqual([event.event, event.stream], ["update", [...name]])
        conforms(event.payload, "Status")
        assert.deepInclude(event.payload, { id: posted.id })
      }
      yield* Effect.promise(() => ada.api.v1.statuses.$select(posted.id).update({ status: "#tea time!" }))
      const edited = yield* user.next
      assert.strictEqual(edited.event, "status.update")
      assert.include(JSON.stringify(edited.payload), "time!")

      yield* Effect.promise(() => ada.api.v1.statuses.create({ status: "@bob psst", visibility: "direct" }))
      const notified = yield* bells.next
      assert.deepInclude(notified.payload, { type: "mention" })
      const conversation = yield* direct.next
      assert.strictEqual(conversation.event, "conversation")
      conforms(conversation.payload, "Conversation")

      yield* Effect.promise(() => ada.api.v1.statuses.$select(posted.id).remove())
      const seen: Array<Event> = []
      while (seen.at(-1)?.event !== "delete") seen.push(yield* user.next)
      assert.deepStrictEqual(seen.at(-1)?.payload, posted.id)
      assert.sameMembers(seen.map(({ event }) => event), ["update", "notification", "delete"])
      const publicly = (yield* everybody.waiting).map(({ event }) => event)
      assert.notInclude(publicly, "conversation")
    }))
})
