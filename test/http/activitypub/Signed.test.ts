import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeKeyOperations from "../../../src/layers/NodeKeyOperations.ts"
import { DomainAllows } from "../../../src/services/federation/domains/DomainAllows.ts"
import { DomainPolicies } from "../../../src/services/federation/domains/DomainPolicies.ts"
import { RemoteAccounts } from "../../../src/services/federation/RemoteAccounts.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { Signatures } from "../../../src/services/federation/signatures/Signatures.ts"
import { eventually } from "../../support/Eventually.ts"
import { followers, person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { send } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

const here = "https://local.example"

/** Creates an account of another server whose key is known; its server is never contacted. */
const stranger = Effect.fnUntraced(function*(name: string) {
  const { privatePem, publicPem } = yield* Effect.flatMap(KeyOperations, ({ generate }) => generate).pipe(
    Effect.provide(NodeKeyOperations.layer)
  )
  const id = new URL(`https://127.0.0.1/users/${name}`)
  const key = { keyId: `${id.href}#main-key`, privatePem }
  const accountId = yield* RemoteAccounts.use(({ store }) =>
    store({
      id,
      type: "Person",
      username: name,
      handle: undefined,
      displayName: "",
      noteHtml: "",
      url: id.href,
      fields: [],
      locked: false,
      discoverable: false,
      indexable: false,
      memorial: false,
      suspended: false,
      showFeatured: true,
      showMedia: true,
      showMediaReplies: true,
      publishedAt: undefined,
      inboxUrl: `${id.href}/inbox`,
      sharedInboxUrl: null,
      outboxUrl: null,
      followersUrl: null,
      followingUrl: null,
      featuredUrl: null,
      featuredTagsUrl: null,
      featuredCollectionsUrl: null,
      featuredBy: undefined,
      alsoKnownAs: [],
      movedTo: null,
      attributionDomains: [],
      avatar: undefined,
      header: undefined,
      emojis: [],
      keys: [{ keyId: key.keyId, publicPem }]
    }, { username: name, domain: "peer.test" })
  )
  assert(accountId !== undefined)
  return { accountId, key }
})

type Stranger = Effect.Success<ReturnType<typeof stranger>>

/** Sends a request with the stranger's signature, for our public host name. */
const asking = Effect.fnUntraced(function*(path: string, by?: Stranger) {
  const signed = by === undefined ?
    {} :
    yield* Signatures.use(({ sign }) =>
      sign("rfc9421", by.key, { method: "GET", url: new URL(here + path), headers: {}, body: undefined })
    )
  return yield* send(path, { headers: { accept: "application/activity+json", ...signed } })
})

/** Errors are also in the reader's language. */
const varyOfErrors = "Accept, Signature, Accept-Language"

layer(server(), { excludeTestServices: true })("signed requests", (it) => {
  it.effect("row 61: each signer gets its own response, never another's cached one", () =>
    Effect.gen(function*() {
      const anna = yield* person("anna")
      const [follower, mentioned, nobody] = [
        yield* stranger("follower"),
        yield* stranger("mentioned"),
        yield* stranger("nobody")
      ]
      yield* followers(anna, [follower.accountId])
      const sql = yield* SqlClient.SqlClient
      const [secret, direct] = [
        yield* status(anna, "secret", { visibility: "private" }),
        yield* status(anna, "direct", { visibility: "direct" })
      ]
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (${direct}, ${mentioned.accountId})`
      const table: ReadonlyArray<readonly [bigint, Stranger | undefined, number]> = [
        [secret, follower, 200],
        [secret, undefined, 404],
        [secret, nobody, 404],
        [secret, mentioned, 404],
        [direct, mentioned, 200],
        [direct, follower, 404],
        [direct, undefined, 404]
      ]
      // In both orders, so that a response cached for one signer would show for another.
      for (const [id, by, expected] of [...table, ...table.toReversed()]) {
        const response = yield* asking(`/users/anna/statuses/${id}`, by)
        assert.strictEqual(response.status, expected)
        assert.strictEqual(response.headers.get("cache-control"), "private, no-store")
        assert.strictEqual(response.headers.get("vary"), expected === 200 ? "Accept, Signature" : varyOfErrors)
      }
      const outbox = yield* asking("/users/anna/outbox?page=true", follower)
      assert.include(outbox.text, String(secret))
      assert.notInclude(outbox.text, String(direct))
      assert.notInclude((yield* asking("/users/anna/outbox?page=true")).text, String(secret))
    }))

  it.effect("row 17 F100: a blocked or suspended signer gets nothing; an invalid signature counts as none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ben = yield* person("ben")
      const [blocked, suspended, forger] = [
        yield* stranger("blocked"),
        yield* stranger("suspended"),
        yield* stranger("forger")
      ]
      const id = yield* status(ben, "open")
      const now = yield* Clock.currentTimeMillis
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (next_id(${now}), ${ben}, ${blocked.accountId})`
      yield* sql`UPDATE accounts SET suspended_at = ${new Date(now)} WHERE id = ${suspended.accountId}`
      const path = `/users/ben/statuses/${id}`
      assert.strictEqual((yield* asking(path, blocked)).status, 404)
      yield* sql`INSERT INTO status_pins (id, account_id, status_id) VALUES (next_id(${now}), ${ben}, ${id})`
      const featured = (by?: Stranger) =>
        Effect.map(asking("/users/ben/collections/featured", by), ({ text }) => JSON.parse(text).orderedItems.length)
      assert.deepStrictEqual([yield* featured(), yield* featured(forger), yield* featured(blocked)], [1, 1, 0])
      yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (1, 'cats', 'cats', ${new Date(now)})`
      yield* sql`INSERT INTO featured_tags (id, account_id, tag_id, name) VALUES (1, ${ben}, 1, 'cats')`
      const tags = (by?: Stranger) =>
        Effect.map(asking("/users/ben/collections/tags", by), ({ text }) => JSON.parse(text).items.length)
      assert.deepStrictEqual([yield* tags(), yield* tags(forger), yield* tags(blocked)], [1, 1, 0])
      assert.strictEqual((yield* asking("/users/ben", blocked)).status, 200)
      assert.strictEqual((yield* asking(path, suspended)).status, 403)
      const stolen = { ...forger, key: { ...forger.key, keyId: blocked.key.keyId } }
      assert.strictEqual((yield* asking(path, stolen)).status, 200)
      const secret = yield* status(ben, "secret", { visibility: "private" })
      yield* followers(ben, [forger.accountId])
      const impostor = { ...blocked, key: { ...blocked.key, keyId: forger.key.keyId } }
      assert.strictEqual((yield* asking(`/users/ben/statuses/${secret}`, forger)).status, 200)
      assert.strictEqual((yield* asking(`/users/ben/statuses/${secret}`, impostor)).status, 404)
      assert.strictEqual(
        (yield* send(path, { headers: { accept: "application/activity+json", signature: "x" } })).status,
        200
      )
    }))
})

layer(server({ authorizedFetch: true }), { excludeTestServices: true })("authorized fetch", (it) => {
  it.effect("F100: an invalid signature is refused where one is required", () =>
    Effect.gen(function*() {
      const dora = yield* person("dora")
      const [signer, forger] = [yield* stranger("signer"), yield* stranger("forger")]
      const id = yield* status(dora, "open")
      const stolen = { ...forger, key: { ...forger.key, keyId: signer.key.keyId } }
      for (const path of ["/users/dora", `/users/dora/statuses/${id}`, "/users/dora/outbox"]) {
        assert.strictEqual((yield* asking(path, signer)).status, 200, path)
        assert.strictEqual((yield* asking(path, stolen)).status, 401, path)
        assert.strictEqual(
          (yield* send(path, { headers: { accept: "application/activity+json", signature: "x" } })).status,
          400,
          path
        )
      }
    }))
})

layer(server({ limitedFederation: true }), { excludeTestServices: true })("restricted mode", (it) => {
  it.effect("S-024: a signature gives access to the signer's objects", () =>
    Effect.gen(function*() {
      const cleo = yield* person("cleo")
      const id = yield* status(cleo, "hello")
      // A signature has no effect while its server is on no list (S-020).
      assert.strictEqual((yield* asking("/users/cleo", yield* stranger("early"))).status, 403)
      for (const domain of ["127.0.0.1", "peer.test"]) {
        yield* Effect.provide(DomainAllows.use(({ allow }) => allow(domain)), DomainAllows.layer)
      }
      yield* eventually(DomainPolicies.use(({ isAllowed }) => isAllowed("peer.test")), (allowed) => allowed)
      const by = yield* stranger("signer")
      for (const path of ["/users/cleo", `/users/cleo/statuses/${id}`, "/users/cleo/outbox", "/users/cleo/followers"]) {
        assert.strictEqual((yield* asking(path, by)).status, 200, path)
        const unsigned = yield* asking(path)
        assert.strictEqual(unsigned.status, 401, path)
        assert.deepStrictEqual(JSON.parse(unsigned.text), { error: "Request not signed" })
        assert.strictEqual(unsigned.headers.get("vary"), varyOfErrors)
      }
    }))
})
