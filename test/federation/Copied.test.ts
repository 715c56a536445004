import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fedifyPeer } from "../support/FedifyPeer.ts"
import * as Loopback from "../support/Loopback.ts"
import { idOf, transferred } from "../support/mastodon/Copies.ts"
import * as Mastodon from "../support/mastodon/Server.ts"
import * as Programs from "../support/programs/Programs.ts"
import { TestServer } from "../support/Server.ts"
import { snacPeer } from "../support/SnacPeer.ts"
import { keyOperations, listener } from "./Listener.ts"
import { sendTo } from "./SentActivity.ts"

/* Followers at other implementations, who know a Mastodon server, notice nothing when its copy replaces it. */

// Tests read documents of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** An account of another implementation, as Mastodon knows it. */
interface Follower {
  readonly id: string
  readonly domain: string
  readonly username: string
}

const documentAt = (url: string): Effect.Effect<Json> =>
  Effect.promise(async () => {
    const response = await Loopback.request(url, { headers: { accept: "application/activity+json" } })
    return response.json()
  })

/**
 * Starts a server with the addresses of Mastodon: Ada with an old actor id, Bert with a new one, both with posts. It
 * receives activities, and accepts follows when told to. `replace` copies its database, with what the test wrote there,
 * to a server of ours, which takes the port over; returns that server as seen by Ada and Bert with their old tokens.
 */
const mastodon = Effect.gen(function*() {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const old = yield* Scope.provide(listener(), scope)
  const bertId = idOf(2)
  const bertUri = `${old.url}/ap/users/${bertId}`
  const ada = yield* old.actor("ada")
  const bert = {
    ...yield* old.actor("bert", { id: bertUri, inbox: `${bertUri}/inbox` }),
    id: bertUri,
    keyId: `${bertUri}#main-key`
  }
  const document = { ...old.documents.get("/users/bert") as Json }
  document.publicKey = { ...document.publicKey, id: bert.keyId, owner: bertUri }
  old.documents.set(`/ap/users/${bertId}`, document)
  const inbox = old.documents.get("/users/bert/inbox")
  if (inbox !== undefined) old.documents.set(`/ap/users/${bertId}/inbox`, inbox)

  const from = yield* Mastodon.server("4.5", old.domain)
  const keyOf = ({ privatePem, publicPem }: typeof ada) => ({ privateKey: privatePem, publicKey: publicPem })
  const people = {
    ada: yield* from.person(idOf(1), "ada", { account: keyOf(ada) }),
    bert: yield* from.person(bertId, "bert", { account: { ...keyOf(bert), idScheme: 1 } })
  }
  yield* from.token(people.ada, "read write follow")
  yield* from.insert("oauth_access_tokens", {
    id: 2n,
    token: "token-of-bert",
    scopes: "read write follow",
    resourceOwnerId: people.bert.userId
  })
  yield* from.insert("conversations", { id: 9n })
  const post = { conversationId: 9n, local: true, language: "en" }
  const oldest = `tag:${old.domain},2016-11-24:objectId=1:objectType=Status`
  yield* from.insert(
    "statuses",
    { ...post, id: idOf(10), accountId: people.ada.id, text: "from the first days", uri: oldest },
    { ...post, id: idOf(11), accountId: people.ada.id, text: "written at Mastodon" }
  )

  return {
    ...from,
    old,
    ada: { ...people.ada, uri: ada.id, keyId: ada.keyId, publicPem: ada.publicPem },
    bert: { ...people.bert, uri: bertUri },
    /** Id of Ada's first post, and the address of her second one. */
    posts: { oldest, oldestId: idOf(10), second: `${ada.id}/statuses/${idOf(11)}`, secondId: idOf(11) },
    /** Adds the account that Mastodon stored of a follower. */
    known: Effect.fnUntraced(function*(id: bigint, follower: Follower) {
      const { endpoints, inbox, publicKey } = yield* documentAt(follower.id)
      return yield* from.stranger(id, follower.username, {
        domain: follower.domain,
        uri: follower.id,
        url: follower.id,
        inboxUrl: inbox,
        sharedInboxUrl: endpoints?.sharedInbox ?? "",
        followersUrl: `${follower.id}/followers`,
        publicKey: publicKey.publicKeyPem
      })
    }),
    /** Accepts the newest follow of one of the people, signed with that person's key; returns its id. */
    accept: Effect.fnUntraced(function*(whom: "ada" | "bert", follower: Follower) {
      const follow = yield* eventually(
        Effect.sync(() => old.received.find(({ activity }) => activity.type === "Follow")?.activity),
        (found) => found !== undefined
      )
      old.take("Follow")
      const by = whom === "ada" ? ada : bert
      const { inbox } = yield* documentAt(follower.id)
      const { origin, pathname } = new URL(inbox)
      const fetched = (path: string, options = {}) => Effect.promise(() => Loopback.request(origin + path, options))
      yield* Effect.provide(
        sendTo({ origin, fetch: fetched }, by, pathname)({
          id: `${by.id}#accepts/follows/1`,
          type: "Accept",
          object: follow
        }),
        keyOperations
      )
      return String(follow.id)
    }),
    replace: Effect.gen(function*() {
      yield* Scope.close(scope, Exit.void)
      const { port } = new URL(old.url)
      const ours = yield* Layer.build(Layer.fresh(
        TestServer.layer({ PORT: port, PUBLIC_URL: old.url, OUTBOUND_ALLOW: "127.0.0.0/8" })
      ))
      yield* Effect.provide(transferred(from, "copy"), ours)
      const server = Context.get(ours, TestServer)
      return (token: string) => (method: string, path: string, json?: object): Effect.Effect<Json> =>
        Effect.flatMap(
          server.fetch(path, { method, token, ...(json && { json }) }),
          (response) =>
            Effect.promise(async () => {
              const text = await response.text()
              assert.strictEqual(response.status, 200, `${method} ${path}: ${text}`)
              return JSON.parse(text)
            })
        )
    })
  }
})

describe("a Mastodon server is replaced by its copy", () => {
  it.live("S-009, F377: a follower on Fedify receives, undoes what it did before, and replies to a tag: URI", () =>
    Effect.gen(function*() {
      const peer = yield* fedifyPeer
      const before = yield* mastodon
      const { ada, bert, insert, posts } = before
      const faye = { id: peer.id(), domain: peer.domain, username: "faye" }
      const remote = yield* before.known(idOf(5), faye)

      const follow = yield* peer.follow(ada.uri)
      assert.strictEqual(yield* before.accept("ada", faye), follow.id?.href)
      yield* peer.waitFor(({ actor, type }) => type === "Accept" && actor === ada.uri)
      const second = yield* peer.follow(bert.uri)
      yield* before.accept("bert", faye)
      yield* peer.waitFor(({ actor, type }) => type === "Accept" && actor === bert.uri)
      const like = yield* peer.like(posts.second, ada.uri)
      const boost = yield* peer.boost(posts.second, ada.uri)
      const written = yield* peer.post("<p>written by Faye</p>", ada.uri)
      const at = { createdAt: new Date() }
      yield* insert(
        "follows",
        { ...at, id: 20n, accountId: remote.id, targetAccountId: ada.id, uri: follow.id?.href },
        { ...at, id: 21n, accountId: remote.id, targetAccountId: bert.id, uri: second.id?.href },
        { ...at, id: 22n, accountId: ada.id, targetAccountId: remote.id, uri: `${ada.uri}#follows/22` }
      )
      yield* insert(
        "statuses",
        { ...at, id: idOf(30), accountId: remote.id, uri: boost.id?.href, reblogOfId: posts.secondId, local: false },
        { ...at, id: idOf(31), accountId: remote.id, uri: written, text: "<p>written by Faye</p>", local: false }
      )
      yield* insert(
        "favourites",
        { ...at, id: 40n, accountId: remote.id, statusId: posts.secondId },
        { ...at, id: 41n, accountId: ada.id, statusId: idOf(31) }
      )

      const ours = yield* before.replace
      const [asAda, asBert] = [ours("token-of-ada"), ours("token-of-bert")]
      const { publicKey } = yield* documentAt(ada.uri)
      assert.deepStrictEqual([publicKey.id, publicKey.publicKeyPem], [ada.keyId, ada.publicPem])

      yield* asAda("POST", "/api/v1/statuses", { status: "still here" })
      yield* peer.waitFor(({ actor, content, type }) =>
        type === "Create" && actor === ada.uri && content === "<p>still here</p>"
      )
      yield* asBert("POST", "/api/v1/statuses", { status: "me too" })
      yield* peer.waitFor(({ actor, content, type }) =>
        type === "Create" && actor === bert.uri && content === "<p>me too</p>"
      )

      const read = asAda("GET", `/api/v1/statuses/${posts.secondId}`)
      const counted = yield* read
      assert.deepStrictEqual([counted.favourites_count, counted.reblogs_count], [1, 1])
      yield* peer.undo(like, ada.uri)
      yield* peer.undo(boost, ada.uri)
      yield* eventually(read, (now) => now.favourites_count === 0 && now.reblogs_count === 0)

      const reply = yield* peer.post("<p>I remember</p>", ada.uri, posts.oldest)
      const { descendants } = yield* eventually(
        asAda("GET", `/api/v1/statuses/${posts.oldestId}/context`),
        (thread) => thread.descendants.length === 1
      )
      assert.strictEqual(descendants[0].uri, reply)

      // Faye's server knows what Ada did before by ids that end in the numbers of Mastodon's rows.
      yield* asAda("POST", `/api/v1/statuses/${idOf(31)}/unfavourite`)
      yield* peer.waitFor(({ object, type }) => type === "Undo" && object === `${ada.uri}#likes/41`)
      yield* asAda("POST", `/api/v1/accounts/${remote.id}/unfollow`)
      yield* peer.waitFor(({ object, type }) => type === "Undo" && object === `${ada.uri}#follows/22`)

      yield* peer.undo(follow, ada.uri)
      yield* eventually(
        asAda("GET", `/api/v1/accounts/relationships?id=${remote.id}`),
        ([relationship]) => relationship.followed_by === false
      )
    }).pipe(Effect.provide(NodeServices.layer)))

  const snac = Programs.find("snac")
  it.live("S-009, F377: a follower on snac receives, and undoes what it did before", () =>
    Effect.gen(function*() {
      // Skips the test without snac; docs/testing.md says how to install it.
      if (snac === undefined) return console.log("not run: snac2 is missing")
      const peer = yield* snacPeer(snac)
      const before = yield* mastodon
      const { ada, insert, posts } = before
      const sam = { id: peer.id, domain: peer.domain, username: "sam" }
      const remote = yield* before.known(idOf(5), sam)
      yield* peer.follow(ada.uri)
      const uri = yield* before.accept("ada", sam)
      yield* insert("follows", { id: 20n, accountId: remote.id, targetAccountId: ada.id, uri })
      before.old.documents.set(new URL(posts.second).pathname, {
        "@context": "https://www.w3.org/ns/activitystreams",
        id: posts.second,
        type: "Note",
        attributedTo: ada.uri,
        content: "<p>written at Mastodon</p>",
        to: ["https://www.w3.org/ns/activitystreams#Public"],
        published: "2024-01-01T00:00:00Z"
      })
      yield* peer.boost(posts.second)
      const boost: Json = yield* eventually(
        Effect.sync(() => before.old.received.find(({ activity }) => activity.type === "Announce")?.activity),
        (found) => found !== undefined
      )
      yield* insert("statuses", {
        id: idOf(30),
        // Old posts of other servers are not copied.
        createdAt: new Date(),
        accountId: remote.id,
        uri: boost.id,
        reblogOfId: posts.secondId,
        local: false
      })

      const asAda = (yield* before.replace)("token-of-ada")
      yield* asAda("POST", "/api/v1/statuses", { status: "still here" })
      yield* peer.shows((page) => page.includes("still here"))
      const read = asAda("GET", `/api/v1/statuses/${posts.secondId}`)
      assert.strictEqual((yield* read).reblogs_count, 1)
      yield* peer.unboost(posts.second)
      yield* eventually(read, (now) => now.reblogs_count === 0)
      yield* peer.unfollow(ada.uri)
      yield* eventually(
        asAda("GET", `/api/v1/accounts/relationships?id=${remote.id}`),
        ([relationship]) => relationship.followed_by === false
      )
    }).pipe(Effect.provide(NodeServices.layer)))
})
