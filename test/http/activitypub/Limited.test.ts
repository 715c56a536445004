import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Cavage from "../../../src/services/federation/signatures/Cavage.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { json, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, type RemotePerson, send, serversWith } from "./Sending.ts"

/** Requests a document like other servers; returns the status. */
const statusOfSignedGet = Effect.fnUntraced(function*(path: string, by?: RemotePerson) {
  const { baseUrl, fetch } = yield* TestServer
  const accept = { accept: "application/activity+json" }
  if (by === undefined) return (yield* fetch(path, { headers: accept })).status
  const keys = yield* KeyOperations
  const asked = { method: "GET", url: new URL(baseUrl + path), keyId: by.keyId, now: Date.now(), headers: {} } as const
  const { base, headers } = Cavage.toSign({ ...asked, body: undefined })
  const signed = headers(yield* Effect.orDie(keys.sign(by.privatePem, base)))
  return (yield* fetch(path, { headers: { ...accept, ...signed } })).status
})

layer(serversWith({ LIMITED_FEDERATION: "true" }), { excludeTestServices: true })(
  "limited federation",
  (it) => {
    it.effect("S-019, S-020, S-024: only allowed servers exchange data, from the moment they are allowed", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { domain, requests } = yield* OtherServer
        const { fetch, variables } = yield* TestServer
        const [ada, zoe] = [yield* newPerson("ada"), yield* there("zoe")]
        const me = yield* actorOf(ada)
        const status = yield* json(ada, "/api/v1/statuses", { status: "hello" })
        const documents = ["/users/ada", new URL(status.uri).pathname, "/users/ada/outbox", "/users/ada/followers"]
        const search = json(ada, `/api/v2/search?type=accounts&resolve=true&q=${encodeURIComponent(`zoe@${domain}`)}`)

        for (const path of documents) {
          assert.deepStrictEqual(
            [yield* statusOfSignedGet(path), yield* statusOfSignedGet(path, zoe)],
            [401, 403],
            path
          )
        }
        const open = [
          "/actor",
          "/.well-known/webfinger?resource=acct:ada@localhost",
          "/nodeinfo/2.0",
          "/api/v2/instance"
        ]
        for (const path of open.filter((path) => !path.includes("webfinger"))) {
          assert.strictEqual(yield* statusOfSignedGet(path), 200, path)
        }
        for (const path of ["peers", "activity", "domain_blocks"]) {
          assert.strictEqual((yield* fetch(`/api/v1/instance/${path}`)).status, 401, path)
        }
        assert.strictEqual(yield* send(zoe, { type: "Follow", object: me }), 403)
        assert.strictEqual(yield* send(zoe, { type: "Follow", object: me }, "/users/ada/inbox"), 403)
        assert.isEmpty((yield* search).accounts)
        assert.lengthOf(requests, 0)
        assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS n FROM inbound_activities`, [{ n: 0 }])

        assert.strictEqual((yield* cli(["domain", "allow", domain], variables)).code, 0)
        const known = Effect.map(search, ({ accounts }) => accounts.length)
        yield* eventually(known, (found) => found === 1)
        for (const path of documents) {
          assert.deepStrictEqual(
            [yield* statusOfSignedGet(path), yield* statusOfSignedGet(path, zoe)],
            [401, 200],
            path
          )
        }
        assert.strictEqual(yield* deliverFrom(zoe, { type: "Follow", object: me }), "done")

        assert.strictEqual((yield* cli(["domain", "disallow", domain], variables)).code, 0)
        const asked = Effect.map(statusOfSignedGet("/users/ada", zoe), (status) => status)
        yield* eventually(asked, (found) => found === 403)
        const followers = Effect.map(
          json(ada, "/api/v1/accounts/verify_credentials"),
          ({ followers_count }) => followers_count
        )
        yield* eventually(followers, (count) => count === 0)
      }))
  }
)

layer(serversWith({ AUTHORIZED_FETCH: "on" }), { excludeTestServices: true })("secure mode", (it) => {
  it.effect("S-024: document requests must be signed; unblocked signers are served, blocked ones get nothing", () =>
    Effect.gen(function*() {
      const { domain } = yield* OtherServer
      const { fetch, variables } = yield* TestServer
      const [ben, yan] = [yield* newPerson("ben"), yield* there("yan")]
      const status = yield* json(ben, "/api/v1/statuses", { status: "hello" })
      const documents = ["/users/ben", new URL(status.uri).pathname, "/users/ben/outbox", "/users/ben/followers"]
      for (const path of documents) {
        assert.deepStrictEqual([yield* statusOfSignedGet(path), yield* statusOfSignedGet(path, yan)], [401, 200], path)
      }
      const host = new URL((yield* TestServer).baseUrl).host
      const open = ["/actor", `/.well-known/webfinger?resource=acct:ben@${host}`, "/nodeinfo/2.0"]
      for (const path of open) assert.strictEqual(yield* statusOfSignedGet(path), 200, path)
      // People can still read without signing in: the limits concern servers only.
      for (const path of ["/@ben", `/api/v1/statuses/${status.id}`, "/api/v1/timelines/public"]) {
        assert.strictEqual((yield* fetch(path)).status, 200, path)
      }
      assert.strictEqual(yield* deliverFrom(yan, { type: "Follow", object: yield* actorOf(ben) }), "done")
      assert.strictEqual((yield* cli(["domain", "block", domain, "--severity", "suspend"], variables)).code, 0)
      const asked = Effect.suspend(() => statusOfSignedGet("/users/ben", yan))
      yield* eventually(asked, (found) => found === 403)
    }))
})
