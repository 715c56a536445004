import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import * as KeyPairs from "../../support/KeyPairs.ts"
import { TestServer } from "../../support/Server.ts"
import { respond } from "./Exchange.ts"
import { found, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, type RemotePerson, send, servers } from "./Sending.ts"

/** An activity received by the other server. */
interface Arrived {
  readonly type: string
  readonly id: string
  readonly actor: string
  readonly object: { readonly id: string; readonly object: string }
}

const publicCollection = "https://www.w3.org/ns/activitystreams#Public"

/** Creates a local account whose ids contain its number. */
const numbered = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const { baseUrl } = yield* TestServer
  const person = yield* newPerson(name)
  yield* sql`UPDATE accounts SET id_scheme = 1 WHERE id = ${person.accountId}`
  return { ...person, actor: `${baseUrl}/ap/users/${person.accountId}` }
})

const documentAt = (url: string, type = "application/activity+json") =>
  TestServer.use(({ baseUrl, fetch }) =>
    Effect.gen(function*() {
      const response = yield* fetch(url.replace(baseUrl, ""), { headers: { accept: type }, redirect: "manual" })
      const text = yield* Effect.promise(() => response.text())
      return {
        status: response.status,
        location: response.headers.get("location"),
        json: text.startsWith("{") ? JSON.parse(text) : {}
      }
    })
  )

/** Records the activities of `actor` in an inbox of the other server, with their signatures; the inbox accepts all. */
const inboxAt = Effect.fnUntraced(function*(path: string) {
  const arrived: Array<{ readonly document: Arrived; readonly signature: string }> = []
  yield* respond(path, (request, response) => {
    let text = ""
    request.on("data", (part) => text += String(part))
    request.on("end", () => {
      arrived.push({ document: JSON.parse(text), signature: String(request.headers["signature"]) })
      response.writeHead(202).end()
    })
  })
  const next = (type: string) =>
    eventually(
      Effect.sync(() => arrived.filter(({ document }) => document.type === type)),
      ([first]) => first !== undefined
    ).pipe(Effect.map((all) => all.at(-1)!))
  return { next }
})

const follow = (by: RemotePerson, object: string) =>
  send(by, { type: "Follow", id: `${by.id}#follows/1`, object }, `${new URL(object).pathname}/inbox`)

layer(servers, { excludeTestServices: true })("actors with ids by number", (it) => {
  it.effect("documents, collections and WebFinger use the account's own scheme at both addresses", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const anna = yield* numbered("anna")
      const { json: actor } = yield* documentAt(anna.actor)
      assert.deepInclude(actor, {
        id: anna.actor,
        preferredUsername: "anna",
        inbox: `${anna.actor}/inbox`,
        outbox: `${anna.actor}/outbox`,
        followers: `${anna.actor}/followers`,
        following: `${anna.actor}/following`,
        featured: `${anna.actor}/collections/featured`,
        featuredTags: `${anna.actor}/collections/tags`,
        url: `${baseUrl}/@anna`
      })
      assert.deepInclude(actor.publicKey, { id: `${anna.actor}#main-key`, owner: anna.actor })
      assert.deepStrictEqual((yield* documentAt(`${baseUrl}/users/ANNA`)).json, actor)
      for (
        const part of [
          "outbox",
          "followers",
          "following",
          "collections/featured",
          "collections/tags"
        ]
      ) {
        const { json: collection, status } = yield* documentAt(`${anna.actor}/${part}`)
        assert.deepStrictEqual([status, collection.id], [200, `${anna.actor}/${part}`], part)
      }
      const { json: jrd } = yield* documentAt(
        `${baseUrl}/.well-known/webfinger?resource=acct:anna@${new URL(baseUrl).host}`,
        "*/*"
      )
      assert.include(jrd.aliases, anna.actor)
      const self = jrd.links.find(({ rel }: { readonly rel: string }) => rel === "self")
      assert.strictEqual(self.href, anna.actor)
      const { json: byUrl } = yield* documentAt(
        `${baseUrl}/.well-known/webfinger?resource=${encodeURIComponent(anna.actor)}`,
        "*/*"
      )
      assert.deepStrictEqual(byUrl, jrd)
      assert.strictEqual((yield* json(anna, "/api/v1/accounts/verify_credentials")).uri, anna.actor)
    }))

  it.effect("an account with ids by name is also found at its number, with its ids by name", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const bert = yield* newPerson("bert")
      const { json: actor } = yield* documentAt(`${baseUrl}/ap/users/${bert.accountId}`)
      assert.strictEqual(actor.id, `${baseUrl}/users/bert`)
      const { id, uri } = yield* publish(bert, "by name")
      assert.strictEqual(uri, `${baseUrl}/users/bert/statuses/${id}`)
      assert.strictEqual(
        (yield* documentAt(`${baseUrl}/ap/users/${bert.accountId}/statuses/${id}`)).json.id,
        uri
      )
    }))

  it.effect("posts, their parts and their activities have ids below the number, and pages stay at the name", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const cora = yield* numbered("cora")
      const { id, uri, url } = yield* publish(cora, "first")
      const expected = `${cora.actor}/statuses/${id}`
      assert.deepStrictEqual([uri, url], [expected, `${baseUrl}/@cora/${id}`])
      const { json: document } = yield* documentAt(expected)
      assert.deepInclude(document, {
        id: expected,
        attributedTo: cora.actor,
        to: [publicCollection],
        cc: [`${cora.actor}/followers`]
      })
      assert.strictEqual(document.replies.id, `${expected}/replies`)
      const { json: activity } = yield* documentAt(`${expected}/activity`)
      assert.deepInclude(activity, { id: `${expected}/activity`, type: "Create", actor: cora.actor })
      for (const part of ["replies", "likes", "shares"]) {
        assert.strictEqual((yield* documentAt(`${expected}/${part}`)).json.id, `${expected}/${part}`, part)
      }
      const reply = yield* publish(cora, "second", { in_reply_to_id: id })
      assert.strictEqual((yield* documentAt(reply.uri)).json.inReplyTo, expected)
      for (
        const [path, page] of [[cora.actor, `${baseUrl}/@cora`], [expected, `${baseUrl}/@cora/${id}`]] as const
      ) {
        const { location, status } = yield* documentAt(path, "text/html")
        assert.deepStrictEqual([status, location], [302, page])
      }
      const search = yield* json(cora, `/api/v2/search?resolve=true&q=${encodeURIComponent(expected)}`)
      assert.deepStrictEqual(search.statuses.map((status: { readonly id: string }) => status.id), [id])
      const person = yield* json(cora, `/api/v2/search?resolve=true&q=${encodeURIComponent(cora.actor)}`)
      assert.deepStrictEqual(person.accounts.map((one: { readonly acct: string }) => one.acct), ["cora"])
    }))

  it.effect("numbers of remote, unknown and impossible accounts are not found, a deleted account is gone", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const dora = yield* numbered("dora")
      yield* there("zoe")
      const { id: remote } = yield* found(dora, "zoe")
      for (const number of [remote, "1", "0", "99999999999999999999", "dora", "9223372036854775808"]) {
        for (const path of ["", "/outbox", "/statuses/1"]) {
          assert.strictEqual((yield* documentAt(`${baseUrl}/ap/users/${number}${path}`)).status, 404, number + path)
        }
        assert.strictEqual((yield* documentAt(`${baseUrl}/ap/users/${number}`, "text/html")).status, 404, number)
      }
      const other = yield* newPerson("other")
      const { id } = yield* publish(other, "not dora's")
      assert.strictEqual((yield* documentAt(`${dora.actor}/statuses/${id}`)).status, 404)
      const { fetch } = yield* TestServer
      const { password, token } = dora
      const left = yield* fetch("/api/v1/accounts/delete", { method: "POST", token, json: { password } })
      assert.strictEqual(left.status, 202)
      yield* eventually(documentAt(dora.actor), ({ status }) => status === 410)
    }))

  it.effect("follows, mentions, replies and likes to ids by number arrive, and responses come from the number", () =>
    Effect.gen(function*() {
      const erin = yield* numbered("erin")
      const zack = yield* there("zack")
      const own = yield* inboxAt("/users/zack/inbox")
      const shared = yield* inboxAt("/inbox")
      assert.strictEqual(yield* follow(zack, erin.actor), 202)
      const accept = yield* own.next("Accept")
      assert.include(accept.signature, `keyId="${erin.actor}#main-key"`)
      assert.deepStrictEqual([accept.document.actor, accept.document.object.object], [erin.actor, erin.actor])
      const { id, uri } = yield* publish(erin, "to my followers")
      assert.strictEqual((yield* shared.next("Create")).document.object.id, uri)
      yield* deliverFrom(zack, {
        type: "Create",
        object: note(zack, "reply", {
          inReplyTo: uri,
          cc: [erin.actor],
          tag: [{ type: "Mention", href: erin.actor, name: "@erin" }]
        })
      })
      yield* deliverFrom(zack, { type: "Like", object: uri })
      assert.sameMembers(yield* told(erin), ["follow zack", "mention zack", "favourite zack"])
      assert.deepInclude(yield* json(erin, `/api/v1/statuses/${id}`), { favourites_count: 1, replies_count: 1 })
      const { id: zackId } = yield* found(erin, "zack")
      yield* json(erin, `/api/v1/accounts/${zackId}/follow`, {})
      const asked = yield* own.next("Follow")
      assert.isTrue(asked.document.id.startsWith(`${erin.actor}#follows/`))
      yield* json(erin, `/api/v1/statuses/${id}`, undefined, "DELETE")
      assert.strictEqual((yield* shared.next("Delete")).document.object.id, uri)
    }))

  it.effect("keys that came from another server keep their ids; the newest signs, and all are in the document", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fred = yield* numbered("fred")
      const pairs = [yield* KeyPairs.next, yield* KeyPairs.next]
      for (const [n, { privatePem, publicPem }] of pairs.entries()) {
        const fragment = ["main-key", "key-2"][n]
        const createdAt = new Date(Date.UTC(2024, n))
        yield* sql`INSERT INTO signing_keys ${
          sql.insert({ ownerId: fred.accountId, fragment, publicPem, privatePem, createdAt })
        }`
      }
      const { json: actor } = yield* documentAt(fred.actor)
      const shown = (fragment: string, publicKeyPem: string | undefined) => ({
        id: `${fred.actor}#${fragment}`,
        owner: fred.actor,
        publicKeyPem
      })
      assert.deepStrictEqual(actor.publicKey, [
        shown("key-2", pairs[1]?.publicPem),
        shown("main-key", pairs[0]?.publicPem)
      ])
      const yara = yield* there("yara")
      const own = yield* inboxAt("/users/yara/inbox")
      yield* follow(yara, fred.actor)
      assert.include((yield* own.next("Accept")).signature, `keyId="${fred.actor}#key-2"`)
    }))
})
