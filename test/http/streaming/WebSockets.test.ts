import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Hub } from "../../../src/http/streaming/Hub.ts"
import { type AccountId, StatusId, type TokenId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { person } from "../../support/People.ts"
import { connect, layerStreams, listen, listener, mark, type Refusal, tokenOf } from "./Streams.ts"

const invalid: Refusal = { status: 401, message: "Invalid access token" }
interface Revocable {
  readonly account: AccountId
  readonly tokenId: TokenId
}

layer(layerStreams, { excludeTestServices: true })("A WebSocket", (it) => {
  it.effect("S-007: takes the token from the header, else the query, else the subprotocol, which it echoes", () =>
    Effect.gen(function*() {
      const { secret } = yield* tokenOf(yield* person("tokens2"))
      assert.strictEqual((yield* connect({ protocol: secret })).socket.protocol, secret)
      yield* connect({ authorization: `Bearer ${secret}`, query: "?access_token=wrong", protocol: "wrong" })
      yield* connect({ query: `?access_token=${secret}`, protocol: "wrong" })
      const wrong = yield* Effect.flip(connect({ authorization: "Bearer wrong", query: `?access_token=${secret}` }))
      assert.deepStrictEqual(wrong, invalid)
    }).pipe(Effect.scoped))

  it.effect.each([
    "http://local.example/api/v1/streaming",
    "HTTP://local.example:1/api/v1/x/../streaming",
    "/api//v1/%73treaming"
  ])("F130: opens at %s, and carries messages", (target) =>
    Effect.gen(function*() {
      const { secret } = yield* tokenOf(yield* person(`forms${target.length}`))
      const { next, send } = yield* connect({ protocol: secret, target })
      for (const name of ["one", "two"]) {
        yield* send({ type: "subscribe", stream: name })
        assert.strictEqual((yield* next).status, 400)
      }
    }).pipe(Effect.scoped))

  it.effect("rows 65, 70: refuses callers without API access at the upgrade", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tokens = yield* Tokens
      const missing = { status: 401, message: "Missing access token" }
      assert.deepStrictEqual(yield* Effect.flip(connect({})), missing)
      assert.deepStrictEqual(yield* Effect.flip(connect({ authorization: "Bearer " })), missing)
      assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: "nonsense" })), invalid)
      const app = yield* tokenOf(undefined)
      assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: app.secret })), invalid)
      const revoked = yield* tokenOf(yield* person("revoked3"))
      yield* tokens.revoke({ tokenIds: [revoked.tokenId] })
      assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: revoked.secret })), invalid)
      const states = [
        sql`UPDATE users SET disabled = true WHERE account_id =`,
        sql`UPDATE users SET confirmed_at = NULL WHERE account_id =`,
        sql`UPDATE users SET approved = false WHERE account_id =`,
        sql`UPDATE accounts SET suspended_at = updated_at WHERE id =`
      ]
      for (const [index, change] of states.entries()) {
        const account = yield* person(`state3${index}`)
        const { secret } = yield* tokenOf(account)
        yield* sql`${change} ${account}`
        assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: secret })), invalid)
      }
    }).pipe(Effect.scoped))

  it.effect("row 70: refuses a token that is valid only in the cache", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { secret, tokenId } = yield* tokenOf(yield* person("cached4"))
      yield* Effect.scoped(connect({ protocol: secret }))
      yield* sql`UPDATE oauth_tokens SET revoked_at = created_at WHERE id = ${tokenId}`
      assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: secret })), invalid)
    }).pipe(Effect.scoped))

  it.effect("S-007: multiplexes channels, with each message naming its channel; duplicates count once; unsubscribes", () =>
    Effect.gen(function*() {
      const broadcast = yield* Broadcast
      const { account, next, send } = yield* listener("channels5", "?stream=user")
      const channels = [
        ["public", "public"],
        ["public:local", "public:local"],
        ["public:remote", "public:remote"],
        ["public:media", "public:media"],
        ["public:local:media", "public:local:media"],
        ["public:remote:media", "public:remote:media"]
      ] as const
      for (const [stream] of channels) yield* send({ type: "subscribe", stream })
      yield* send({ type: "subscribe", stream: "public" })
      yield* send({ type: "subscribe", stream: ["hashtag", "ignored"], tag: "Ünï" })
      yield* send({ type: "subscribe", stream: "hashtag", tag: "uni" })
      yield* send({ type: "subscribe", stream: "hashtag:local", tag: ["Cats"] })
      yield* send({ type: "subscribe", stream: "nonsense" })
      assert.deepStrictEqual(yield* next, { error: "Unknown stream type", status: 400 })

      const erased = (...channels: ReadonlyArray<string>) =>
        broadcast.publish({ _tag: "StatusDeleted", statusId: StatusId.make(5n), accountIds: [], channels })
      for (
        const [stream, topic] of [...channels, ["hashtag", "hashtag:uni"], ["hashtag:local", "hashtag:local:cats"]]
      ) {
        yield* erased(topic!)
        const tag = stream === "hashtag" ? ["Ünï"] : stream === "hashtag:local" ? ["Cats"] : []
        assert.deepStrictEqual(yield* next, { stream: [stream!, ...tag], event: "delete", payload: "5" })
      }
      yield* erased("public", "public:local", "hashtag:other")
      assert.deepStrictEqual((yield* next).stream, ["public"])
      assert.deepStrictEqual((yield* next).stream, ["public:local"])
      yield* send({ type: "unsubscribe", stream: "public" })
      yield* send({ type: "unsubscribe", stream: "hashtag", tag: "UNI" })
      yield* send({ type: "unsubscribe", stream: "direct" })
      yield* send({ type: "unsubscribe", stream: "nonsense" })
      assert.deepStrictEqual(yield* next, { error: "Error unsubscribing from channel" })
      yield* erased("public", "hashtag:uni")
      yield* mark(account)
      assert.deepStrictEqual(yield* next, { stream: ["user"], event: "filters_changed" })
    }).pipe(Effect.scoped))

  it.effect("S-007: responds to an invalid subscription with an error and stays open; ignores unknown messages", () =>
    Effect.gen(function*() {
      const { account, next, send } = yield* listener("errors6", "?stream=hashtag")
      assert.deepStrictEqual(yield* next, { error: "Missing tag name parameter", status: 400 })
      yield* send({ type: "subscribe", stream: "list" })
      assert.deepStrictEqual(yield* next, { error: "Missing list name parameter", status: 400 })
      yield* send({ type: "subscribe", stream: "list", list: "12" })
      assert.deepStrictEqual(yield* next, { error: "Not authorized to stream this list", status: 401 })
      for (const ignored of ["", "{", "null", "7", "[]", `{"type":"dance"}`, `{"type":"subscribe","stream":{}}`]) {
        yield* send(ignored)
      }
      yield* send({ type: "subscribe", stream: "" })
      assert.deepStrictEqual(yield* next, { error: "Unknown stream type", status: 400 })
      yield* send({ type: "subscribe", stream: "user" })
      yield* send({ type: "subscribe", stream: "nonsense" })
      yield* next
      yield* mark(account)
      assert.strictEqual((yield* next).event, "filters_changed")
    }).pipe(Effect.scoped))

  it.effect("S-007: closes with 1003 on a binary message, and with 1009 on one that is too long", () =>
    Effect.gen(function*() {
      const binary = yield* listener("binary7", "?stream=user")
      binary.socket.send(Buffer.from("{}"))
      assert.deepStrictEqual(yield* binary.closed, {
        code: 1003,
        reason: "The mastodon streaming server does not support binary messages"
      })
      const long = yield* listener("long7", "?stream=user")
      yield* long.send(" ".repeat(20_000))
      assert.strictEqual((yield* long.closed).code, 1009)
    }).pipe(Effect.scoped))

  it.effect("row 70: closes at once when its token, its account or all of an account's tokens end", () =>
    Effect.gen(function*() {
      const broadcast = yield* Broadcast
      const tokens = yield* Tokens
      const ends = [
        ({ tokenId }: Revocable) => tokens.revoke({ tokenIds: [tokenId] }),
        ({ account }: Revocable) => tokens.revoke({ accountId: account }),
        ({ account }: Revocable) => broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [account] })
      ]
      const bystander = yield* listener("bystander12", "?stream=user")
      for (const [index, end] of ends.entries()) {
        const victim = yield* listener(`victim12${index}`, "?stream=user")
        yield* end(victim)
        assert.deepStrictEqual(yield* victim.closed, { code: 1008, reason: "Invalid access token" })
      }
      yield* mark(bystander.account)
      assert.strictEqual((yield* bystander.next).event, "filters_changed")
    }).pipe(Effect.scoped))

  // Must be last: no client can connect afterwards.
  it.effect("S-007: sockets close as going away when the server stops, and new ones are refused", () =>
    Effect.gen(function*() {
      const one = yield* listener("stop13", "?stream=user")
      const events = yield* listen("user", one.secret)
      yield* events.hello
      yield* Effect.scoped(Layer.build(Layer.fresh(Hub.layerStop)))
      assert.deepStrictEqual(yield* one.closed, { code: 1001, reason: "The server is restarting" })
      yield* events.rest
      assert.strictEqual((yield* Effect.flip(connect({ protocol: one.secret }))).status, 503)
    }).pipe(Effect.scoped))
})
