import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { person } from "../../support/People.ts"
import { post } from "../../support/Posts.ts"
import { address, layerStreams, listen, tokenOf } from "./Streams.ts"

const get = Effect.fnUntraced(function*(path: string, secret?: string) {
  const url = `http://${yield* address}/api/v1/streaming${path}`
  return yield* Effect.promise(async () => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` }
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
})

layer(layerStreams, { excludeTestServices: true })("Server-sent events", (it) => {
  it.effect("S-007: start with `:)` and carry one channel", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const broadcast = yield* Broadcast
      const author = yield* person("author1")
      const { secret } = yield* tokenOf(author)
      const { hello, next, response } = yield* listen("user", secret)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(response.headers.get("cache-control"), "private, no-store")
      assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
      assert.deepStrictEqual(yield* hello, Option.some(":)"))
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("one\n\ntwo") })
      const [event, data, ...more] = Option.getOrThrow(yield* next).split("\n")
      assert.strictEqual(event, "event: update")
      assert.strictEqual(JSON.parse(data!.slice("data: ".length)).id, id)
      assert.deepStrictEqual(more, [])
      yield* actors.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      assert.deepStrictEqual(yield* next, Option.some(`event: delete\ndata: ${id}`))
      yield* broadcast.publish({ _tag: "FiltersChanged", accountId: author })
      assert.deepStrictEqual(yield* next, Option.some("event: filters_changed\ndata: undefined"))
    }).pipe(Effect.scoped))

  it.effect("F98: carry markers if the connection asks for them", () =>
    Effect.gen(function*() {
      const broadcast = yield* Broadcast
      const reader = yield* person("marked1")
      const { secret } = yield* tokenOf(reader)
      const [asking, plain] = [yield* listen("user?supported_events=marker", secret), yield* listen("user", secret)]
      yield* Effect.all([asking.hello, plain.hello])
      yield* broadcast.publish({ _tag: "MarkersSaved", accountId: reader })
      yield* broadcast.publish({ _tag: "FiltersChanged", accountId: reader })
      assert.deepStrictEqual(yield* asking.next, Option.some("event: marker\ndata: {}"))
      for (const { next } of [asking, plain]) {
        assert.deepStrictEqual(yield* next, Option.some("event: filters_changed\ndata: undefined"))
      }
    }).pipe(Effect.scoped))

  it.effect("S-007: have a path for every channel", () =>
    Effect.gen(function*() {
      const broadcast = yield* Broadcast
      const { secret } = yield* tokenOf(yield* person("paths2"))
      const paths = [
        ["public", "public"],
        ["public?only_media=true", "public:media"],
        ["public?only_media=false", "public"],
        ["public/local", "public:local"],
        ["public/local?only_media=1", "public:local:media"],
        ["public/remote", "public:remote"],
        ["public/remote?only_media=on", "public:remote:media"],
        ["hashtag?tag=Ünï", "hashtag:uni"],
        ["hashtag/local?tag=cats", "hashtag:local:cats"]
      ] as const
      for (const [path, topic] of paths) {
        const { hello, next } = yield* listen(`${path}${path.includes("?") ? "&" : "?"}access_token=${secret}`)
        yield* hello
        yield* broadcast.publish({
          _tag: "StatusDeleted",
          statusId: StatusId.make(1n),
          accountIds: [],
          channels: [topic]
        })
        assert.deepStrictEqual(yield* next, Option.some("event: delete\ndata: 1"), path)
      }
    }).pipe(Effect.scoped))

  it.effect("S-007, S-231, rows 65, 69: are refused with Mastodon's messages", () =>
    Effect.gen(function*() {
      const user = yield* person("errors3")
      const { secret } = yield* tokenOf(user)
      const writer = yield* tokenOf(user, "write")
      const app = yield* tokenOf(undefined)
      const cases = [
        ["/user", undefined, 401, "Missing access token"],
        ["/user", "nonsense", 401, "Invalid access token"],
        ["/user", app.secret, 401, "Invalid access token"],
        ["/user", writer.secret, 401, "Access token does not have the required scopes"],
        ["/nonsense", secret, 400, "Unknown channel requested"],
        ["/nonsense", undefined, 400, "Unknown channel requested"],
        ["/hashtag", secret, 400, "Missing tag name parameter"],
        ["/hashtag/local?tag=", secret, 400, "Missing tag name parameter"],
        ["/list", secret, 400, "Missing list name parameter"],
        ["/list?list=5", secret, 401, "Not authorized to stream this list"],
        ["", secret, 404, "Not Found"],
        ["/", undefined, 404, "Not Found"]
      ] as const
      for (const [path, token, status, text] of cases) {
        const reply = yield* get(path, token)
        assert.deepStrictEqual([reply.status, JSON.parse(reply.text)], [status, { error: text }], path)
        assert.strictEqual(reply.headers.get("cache-control"), "private, no-store")
      }
    }))

  it.effect("S-007: have a health check", () =>
    Effect.gen(function*() {
      const { headers, status, text } = yield* get("/health")
      assert.deepStrictEqual([status, text], [200, "OK"])
      assert.match(headers.get("content-type")!, /^text\/plain/)
    }))

  it.effect("row 70: end at once when their token ends", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const { secret, tokenId } = yield* tokenOf(yield* person("revoked5"))
      const { hello, rest } = yield* listen("user", secret)
      yield* hello
      yield* tokens.revoke({ tokenIds: [tokenId] })
      assert.strictEqual(yield* rest, "")
    }).pipe(Effect.scoped))
})
