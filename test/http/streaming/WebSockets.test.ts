import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/actors/account/Accounts.ts"
import { Conversation } from "../../../src/http/wire/Conversation.ts"
import { Notification } from "../../../src/http/wire/Notification.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { Broadcast } from "../../../src/services/feeds/Broadcast.ts"
import { type AccountId, StatusId, type TokenId } from "../../../src/services/Ids.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { followers, person } from "../../support/People.ts"
import { post } from "../../support/Posts.ts"
import { connect, layerStreams, type Refusal, tokenOf } from "./Streams.ts"

const decodeStatus = Schema.decodeUnknownEffect(Schema.fromJsonString(Status))
const decodeNotification = Schema.decodeUnknownEffect(Schema.fromJsonString(Notification))
const decodeConversation = Schema.decodeUnknownEffect(Schema.fromJsonString(Conversation))

/** Somebody with an open stream. */
const listener = Effect.fnUntraced(function*(name: string, query: string, ...scopes: ReadonlyArray<string>) {
  const account = yield* person(name)
  const { secret, tokenId } = yield* tokenOf(account, ...scopes)
  return { account, tokenId, secret, ...(yield* connect({ query, protocol: secret })) }
})

/** Says to everybody's `user` stream that their filters changed: whatever was to come before has come when this comes. */
const mark = (account: AccountId) =>
  Effect.flatMap(Broadcast, (broadcast) => broadcast.publish({ _tag: "FiltersChanged", accountId: account }))

layer(layerStreams, { excludeTestServices: true, timeout: "60 seconds" })("A WebSocket", (it) => {
  it.effect("S-007: carries a follower's home as it happens: update, status.update, delete", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const author = yield* person("author1")
      const reader = yield* listener("reader1", "?stream=user")
      yield* followers(author, [reader.account])
      const { id } = yield* accounts.tell(author, { _tag: "Publish", post: post("Hello #World") })
      const update = yield* reader.next
      assert.deepStrictEqual([update.stream, update.event], [["user"], "update"])
      const status = yield* decodeStatus(update.payload)
      assert.strictEqual(status.id, id)
      assert.deepStrictEqual([status.favourited, status.muted, status.filtered], [false, false, []])
      yield* accounts.tell(author, {
        _tag: "Edit",
        statusId: StatusId.make(BigInt(id)),
        ...edit("Hello again")
      })
      const changed = yield* reader.next
      assert.deepStrictEqual([changed.stream, changed.event], [["user"], "status.update"])
      assert.include((yield* decodeStatus(changed.payload)).content, "Hello again")
      yield* accounts.tell(author, { _tag: "Delete", statusId: StatusId.make(BigInt(id)) })
      assert.deepStrictEqual(yield* reader.next, { stream: ["user"], event: "delete", payload: id })
    }).pipe(Effect.scoped))

  it.effect("S-007: takes the token from the header, else the query, else the subprotocol, which it echoes", () =>
    Effect.gen(function*() {
      const { secret } = yield* tokenOf(yield* person("tokens2"))
      assert.strictEqual((yield* connect({ protocol: secret })).socket.protocol, secret)
      yield* connect({ authorization: `Bearer ${secret}`, query: "?access_token=wrong", protocol: "wrong" })
      yield* connect({ query: `?access_token=${secret}`, protocol: "wrong" })
      const wrong = yield* Effect.flip(connect({ authorization: "Bearer wrong", query: `?access_token=${secret}` }))
      assert.deepStrictEqual(wrong, invalid)
    }).pipe(Effect.scoped))

  it.effect("rows 65, 70: refuses at the upgrade whoever may not use the API", () =>
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

  it.effect("row 70: refuses a token that the cache still believes in", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { secret, tokenId } = yield* tokenOf(yield* person("cached4"))
      yield* Effect.scoped(connect({ protocol: secret }))
      yield* sql`UPDATE oauth_tokens SET revoked_at = created_at WHERE id = ${tokenId}`
      assert.deepStrictEqual(yield* Effect.flip(connect({ protocol: secret })), invalid)
    }).pipe(Effect.scoped))

  it.effect("S-007: multiplexes channels, each message named after its own; the same twice is one; unsubscribes", () =>
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
      for (const [stream, topic] of [...channels, ["hashtag", "hashtag:uni"], ["hashtag:local", "hashtag:local:cats"]]) {
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

  it.effect("S-007: answers what cannot be subscribed with an error and stays open; ignores what it does not know", () =>
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

  it.effect("row 69: opens channels by the token's scopes, and shows notifications only to a token that may read them", () =>
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

      const accounts = yield* Accounts
      const admirer = yield* person("admirer8")
      yield* accounts.tell(admirer, { _tag: "Follow", target: posts.account, reblogs: null, notify: null, languages: null })
      for (const [{ next }, stream] of [[bell, "user:notification"], [all, "user"]] as const) {
        const { event, payload, ...frame } = yield* next
        assert.deepStrictEqual([frame.stream, event], [[stream], "notification"])
        const notification = yield* decodeNotification(payload)
        assert.deepStrictEqual([notification.type, notification.account.id], ["follow", String(admirer)])
      }
      yield* mark(posts.account)
      assert.strictEqual((yield* posts.next).event, "filters_changed")
    }).pipe(Effect.scoped))

  it.effect("S-262: says that filters changed, without a payload, to nobody else", () =>
    Effect.gen(function*() {
      const one = yield* listener("filters9", "?stream=user")
      const other = yield* listener("other9", "?stream=user")
      yield* mark(one.account)
      yield* mark(other.account)
      assert.strictEqual(yield* one.text, `{"stream":["user"],"event":"filters_changed"}`)
      assert.strictEqual((yield* other.next).event, "filters_changed")
      assert.deepStrictEqual(yield* other.waiting, [])
    }).pipe(Effect.scoped))

  it.effect("S-260, S-092: carries conversations on `direct`, to who takes part alone", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const [one, two, three] = [
        yield* listener("one10", "?stream=direct"),
        yield* listener("two10", "?stream=direct"),
        yield* listener("three10", "?stream=direct")
      ]
      yield* three.send({ type: "subscribe", stream: "user" })
      const { id } = yield* accounts.tell(one.account, {
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

  it.effect("S-007: tells whom an edited status mentions, once, whoever follows whom", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const author = yield* person("author11")
      const follower = yield* listener("follower11", "?stream=user")
      const stranger = yield* listener("stranger11", "?stream=user:notification")
      yield* followers(author, [follower.account])
      const { id } = yield* accounts.tell(author, { _tag: "Publish", post: post("Hi @follower11 and @stranger11") })
      const firsts = [(yield* follower.next).event, (yield* follower.next).event]
      assert.sameMembers(firsts, ["update", "notification"])
      assert.strictEqual((yield* stranger.next).event, "notification")
      yield* accounts.tell(author, {
        _tag: "Edit",
        statusId: StatusId.make(BigInt(id)),
        ...edit("Bye @follower11 and @stranger11")
      })
      for (const [reader, stream] of [[follower, "user"], [stranger, "user:notification"]] as const) {
        const { event, payload, stream: name } = yield* reader.next
        assert.deepStrictEqual([name, event], [[stream], "status.update"])
        assert.include((yield* decodeStatus(payload)).content, "Bye")
      }
      yield* mark(follower.account)
      assert.strictEqual((yield* follower.next).event, "filters_changed")
      assert.deepStrictEqual(yield* stranger.waiting, [])
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
})

const invalid: Refusal = { status: 401, message: "Invalid access token" }
const edit = (text: string) => ({ text, spoilerText: "", sensitive: false, language: null })

interface Revocable {
  readonly account: AccountId
  readonly tokenId: TokenId
}
