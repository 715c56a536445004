import { assert, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { createStreamingAPIClient } from "masto"
import generator, { type WebSocketInterface } from "megalodon"
import { WebSocket } from "ws"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { settled } from "../../support/Actors.ts"
import { followers, person } from "../../support/People.ts"
import { post } from "../../support/Posts.ts"
import { otherServer } from "../../support/RemotePosts.ts"
import { address, layerStreams, tokenOf } from "./Streams.ts"

/** Proxy that only serves the instance document with the streaming URL. */
const proxy = Effect.gen(function*() {
  const { reply, baseUrl } = yield* otherServer
  const instance = JSON.stringify({ urls: { ["streaming_api"]: `ws://${yield* address}` } })
  reply("/api/v1/instance", (_, response) => response.end(instance))
  return baseUrl
})

layer(layerStreams, { excludeTestServices: true })("Real clients stream", (it) => {
  it.effect("S-007: masto, several channels on one socket", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const author = yield* person("masto1")
      const { secret } = yield* tokenOf(author)
      const client = createStreamingAPIClient({
        streamingApiUrl: `ws://${yield* address}`,
        accessToken: secret,
        implementation: WebSocket
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => client.close()))
      yield* Effect.promise(() => client.prepare())
      const events = yield* Queue.unbounded<readonly [stream: string, event: string, id: string]>()
      const subscriptions = [
        client.user.subscribe(),
        client.public.local.subscribe(),
        client.hashtag.subscribe({ tag: "Grüße" })
      ]
      for (const subscription of subscriptions) {
        const read = async () => {
          for await (const { event, payload, stream } of subscription) {
            const id = typeof payload === "object" && payload !== null && "id" in payload ? payload.id : payload
            Queue.offerUnsafe(events, [stream.join(), event, String(id)])
          }
        }
        read().catch(() => undefined)
      }
      // The client does not report when it has subscribed, so posts are repeated until each channel has received one.
      for (const heard = new Set<string>(); heard.size < subscriptions.length;) {
        yield* actors.tell(author, { _tag: "Publish", post: post("Are you there, #Grüße?") })
        yield* settled
        for (const [stream] of yield* Queue.clear(events)) heard.add(stream)
      }
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("Viele #Grüße") })
      const updates = new Set<string>()
      while (updates.size < subscriptions.length) {
        const [stream, event, of] = yield* Queue.take(events)
        if (of === id) updates.add(`${stream} ${event}`)
      }
      assert.deepStrictEqual(updates, new Set(["user update", "public:local update", "hashtag,Grüße update"]))
      yield* actors.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      assert.deepStrictEqual(yield* Queue.take(events), ["user", "delete", id])
    }).pipe(Effect.scoped))

  it.effect("S-007: megalodon, one socket per channel", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const [reader, author] = [yield* person("reader2"), yield* person("author2")]
      const { secret } = yield* tokenOf(reader)
      const client = generator("mastodon", yield* proxy, secret, "Tests")
      const opened = Effect.fnUntraced(function*(open: () => Promise<WebSocketInterface>) {
        const socket = yield* Effect.promise(open)
        yield* Effect.addFinalizer(() => Effect.sync(() => socket.stop()))
        yield* Effect.callback<void>((resume) => {
          socket.on("connect", () => resume(Effect.void))
        })
        return socket
      })
      const home = yield* opened(() => client.userStreaming())
      const everybody = yield* opened(() => client.publicStreaming())
      const direct = yield* opened(() => client.directStreaming())
      const heard = yield* Queue.unbounded<readonly [string, string]>()
      home.on("notification", ({ type }) => Queue.offerUnsafe(heard, ["notification", type]))
      everybody.on("update", ({ content }) => Queue.offerUnsafe(heard, ["update", content]))
      direct.on("conversation", ({ unread }) => Queue.offerUnsafe(heard, ["conversation", String(unread)]))
      yield* actors.tell(author, { _tag: "Follow", target: reader, reblogs: null, notify: null, languages: null })
      assert.deepStrictEqual(yield* Queue.take(heard), ["notification", "follow"])
      yield* actors.tell(author, { _tag: "Publish", post: post("to all") })
      assert.deepStrictEqual(yield* Queue.take(heard), ["update", "<p>to all</p>"])
      yield* followers(author, [reader])
      yield* actors.tell(author, { _tag: "Publish", post: post("@reader2 psst", { visibility: "direct" }) })
      const last = [yield* Queue.take(heard), yield* Queue.take(heard)]
      assert.sameDeepMembers(last, [["notification", "mention"], ["conversation", "true"]])
    }).pipe(Effect.scoped))
})
