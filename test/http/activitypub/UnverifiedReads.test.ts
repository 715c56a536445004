import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Cavage from "../../../src/services/federation/signatures/Cavage.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { follows } from "./Exchange.ts"
import { found, there } from "./InboxCalls.ts"
import { OtherServer, type RemotePerson, send, servers } from "./Sending.ts"

interface Signing {
  readonly keyId?: string
  /** Signing time, in milliseconds since 1970. */
  readonly now?: number
  /** URL to sign instead of the requested one. */
  readonly signedUrl?: (url: URL) => URL
  readonly change?: (signature: string) => string
}

/** Requests a document with a valid or manipulated signature. */
const signedGet = Effect.fnUntraced(function*(path: string, by?: RemotePerson, signing: Signing = {}) {
  const { baseUrl, fetch } = yield* TestServer
  const keys = yield* KeyOperations
  const url = new URL(baseUrl + path)
  const headers: Record<string, string> = { accept: "application/activity+json" }
  if (by !== undefined) {
    const { change = (text: string) => text, keyId = by.keyId, now = Date.now(), signedUrl = (same: URL) => same } =
      signing
    const toSign = Cavage.toSign({ method: "GET", url: signedUrl(url), keyId, now, headers: {}, body: undefined })
    const { signature = "", ...rest } = toSign.headers(yield* Effect.orDie(keys.sign(by.privatePem, toSign.base)))
    Object.assign(headers, rest, { signature: change(signature) })
  }
  const response = yield* fetch(path, { headers, redirect: "manual" })
  return { status: response.status, text: yield* Effect.promise(() => response.text()), headers: response.headers }
})

/** Returns the URL without its port. */
const withoutPort = (url: URL) => {
  const bare = new URL(url)
  bare.port = ""
  return bare
}

layer(servers, { excludeTestServices: true })("signed requests for documents", (it) => {
  it.effect("F100: a signature that cannot be verified counts as none, at every document", () =>
    Effect.gen(function*() {
      const { url } = yield* OtherServer
      const [ada, zoe] = [yield* newPerson("ada"), yield* there("zoe")]
      const { id } = yield* publish(ada, "open #birds")
      const secret = yield* publish(ada, "secret", { visibility: "private" })
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ conversationId: bigint }>`SELECT conversation_id FROM statuses WHERE id = ${
        BigInt(id)
      }`
      const base = `/users/${ada.username}`
      const paths = [
        base,
        `/@${ada.username}`,
        `/@${ada.username}/${id}`,
        `${base}/outbox`,
        `${base}/outbox?page=true`,
        `${base}/followers`,
        `${base}/followers?page=true`,
        `${base}/following`,
        `${base}/collections/featured`,
        `${base}/collections/tags`,
        `${base}/statuses/${id}`,
        `${base}/statuses/${id}/activity`,
        `${base}/statuses/${id}/replies?page=true`,
        `${base}/statuses/${id}/likes`,
        `${base}/statuses/${id}/shares`,
        `${base}/statuses/${id}/emoji_reactions`,
        `${base}/statuses/${secret.id}`,
        `${base}/quote_authorizations/1`,
        `${base}/authorizations/1`,
        `/contexts/${row?.conversationId}`,
        `/contexts/${row?.conversationId}?page=true`,
        `/ap/users/${ada.accountId}/featured_collections`,
        "/tags/birds",
        "/actor",
        "/actor/outbox",
        "/emojis/1"
      ]
      const ways: Readonly<Record<string, Signing>> = {
        "a key that is not there": { keyId: `${url}/users/nobody#main-key` },
        "a key at a closed port": { keyId: "http://127.0.0.1:1/users/zoe#main-key" },
        "a key at a private address": { keyId: "https://10.0.0.1/users/zoe#main-key" },
        "a key that is no address": { keyId: "zoe" },
        "another path": { signedUrl: (asked) => new URL("/elsewhere", asked) },
        "another host": { signedUrl: (asked) => new URL(asked.pathname, "http://elsewhere.test") },
        "expired": { now: Date.now() - 2 * 86_400_000 },
        "not yet": { now: Date.now() + 2 * 86_400_000 },
        "an unknown algorithm": { change: (text) => text.replace("rsa-sha256", "rsa-sha1") },
        "another signature": { change: (text) => text.replace(/signature="[^"]*"/, `signature="${btoa("no")}"`) },
        "no parameters": { change: () => "x" },
        "nothing": { change: () => "" }
      }
      for (const path of paths) {
        const unsigned = yield* signedGet(path)
        for (const [way, signing] of Object.entries(ways)) {
          const { headers, status, text } = yield* signedGet(path, zoe, signing)
          assert.deepStrictEqual([status, text], [unsigned.status, unsigned.text], `${path} with ${way}`)
          assert.strictEqual(headers.get("cache-control"), unsigned.headers.get("cache-control"), `${path} with ${way}`)
        }
      }
      // The synchronisation collection is only for signers, so an invalid signature gets an error.
      const synchronization = `${base}/followers_synchronization`
      const expired = yield* signedGet(synchronization, zoe, { now: 0 })
      assert.deepStrictEqual([expired.status, JSON.parse(expired.text).error], [
        401,
        "Signed request date outside acceptable time window"
      ])
    }))

  it.effect("F100: a signature over a host without its port, or a path without its query, is valid", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [ben, zoe] = [yield* newPerson("ben"), yield* there("zoeb")]
      const secret = yield* publish(ben, "secret", { visibility: "private" })
      const account = yield* found(ben, "zoeb")
      const sql = yield* SqlClient.SqlClient
      const path = `/users/${ben.username}/statuses/${secret.id}`
      const outbox = `/users/${ben.username}/outbox?page=true`
      // The other server's account follows Ben.
      yield* send(zoe, { type: "Follow", object: `${baseUrl}/users/${ben.username}` })
      yield* json(ben, `/api/v1/follow_requests/${account.id}/authorize`, {})
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (next_id(${Date.now()}), ${BigInt(account.id)}, ${ben.accountId}, ${new Date()}) ON CONFLICT DO NOTHING`
      yield* follows(ben.accountId, zoe.id)
      const ways: Readonly<Record<string, Signing>> = {
        "as it is": {},
        "without the port": { signedUrl: withoutPort },
        "without the query": { signedUrl: (url) => new URL(url.pathname, url) },
        "without both": { signedUrl: (url) => withoutPort(new URL(url.pathname, url)) }
      }
      for (const [way, signing] of Object.entries(ways)) {
        assert.strictEqual((yield* signedGet(path, zoe, signing)).status, 200, way)
        assert.include((yield* signedGet(outbox, zoe, signing)).text, secret.uri, way)
      }
      const elsewhere: ReadonlyArray<(url: URL) => URL> = [
        (url) => new URL(url.pathname, `http://${url.hostname}:1`),
        (url) => new URL(url.pathname, "http://127.0.0.2"),
        (url) => new URL(`${url.pathname}x`, url)
      ]
      for (const signedUrl of elsewhere) assert.strictEqual((yield* signedGet(path, zoe, { signedUrl })).status, 404)
    }))
})
