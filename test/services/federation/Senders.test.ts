import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { lookUpMillisMin, unavailableMillisMin } from "../../../src/services/federation/ActorLookups.ts"
import { failedLookupsMax } from "../../../src/services/federation/FailedLookups.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { Senders } from "../../../src/services/federation/Senders.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { type Scheme, Signatures, type SigningKey } from "../../../src/services/federation/signatures/Signatures.ts"
import type { SignedRequest } from "../../../src/services/federation/signatures/SignedRequest.ts"
import { publicUrl } from "../../support/Reads.ts"
import { activityJson } from "../outbound/FarHosts.ts"
import { type Json, peer, remote } from "./Peer.ts"

const inbox = new URL(`${publicUrl}/inbox`)
const body = new TextEncoder().encode("{}")

const signed = (key: SigningKey, scheme: Scheme = "draft-cavage") =>
  Effect.map(
    Signatures.use(({ sign }) => sign(scheme, key, { method: "POST", url: inbox, headers: {}, body })),
    (headers): SignedRequest => ({ method: "POST", target: "/inbox", headers: { host: inbox.host, ...headers }, body })
  )
const verify = (request: SignedRequest) => Senders.use(({ verify }) => verify(request))
const sender = (key: SigningKey, scheme?: Scheme) => Effect.flatMap(signed(key, scheme), verify)
const refused = (key: SigningKey) => Effect.map(Effect.flip(sender(key)), (error) => error.message)
const keyPair = Effect.flatMap(KeyOperations, ({ generate }) => generate)

layer(remote)("senders", (it) => {
  for (const scheme of ["draft-cavage", "rfc9421"] as const) {
    it.effect(`are identified by their key (${scheme}), which is fetched once`, () =>
      Effect.gen(function*() {
        const there = yield* peer
        const anna = yield* there.actor("anna")
        assert.strictEqual((yield* sender(anna, scheme)).uri, anna.id)
        const asked = there.requests.length
        assert.strictEqual((yield* sender(anna, scheme)).uri, anna.id)
        assert.strictEqual(there.requests.length, asked)
      }))
  }

  it.effect("row 2: a key belongs to the actor that lists it; other keys are refused", () =>
    Effect.gen(function*() {
      const [good, evil] = [yield* peer, yield* peer]
      const victim = yield* good.actor("victim")
      const forger = yield* evil.actor("forger")
      const document = { ...(evil.documents.get("/users/forger") as Json) }
      const claims: ReadonlyArray<readonly [what: string, publicKey: Json, more?: Json]> = [
        ["another's owner", { id: forger.keyId, owner: victim.id, publicKeyPem: forger.publicPem }],
        ["another's key id", { id: victim.keyId, owner: forger.id, publicKeyPem: forger.publicPem }],
        ["another's id and owner", { id: victim.keyId, owner: victim.id, publicKeyPem: forger.publicPem }],
        ["no owner", { id: forger.keyId, publicKeyPem: forger.publicPem }],
        ["no id", { owner: forger.id, publicKeyPem: forger.publicPem }],
        ["another's actor id", { id: forger.keyId, owner: victim.id, publicKeyPem: forger.publicPem }, {
          id: victim.id
        }],
        ["no key", { id: forger.keyId, owner: forger.id, publicKeyPem: "none" }],
        ["F13: more bytes than a key has", {
          id: forger.keyId,
          owner: forger.id,
          publicKeyPem: `${forger.publicPem}${"\ufdfa".repeat(2_000)}`
        }],
        ["no PEM", { id: forger.keyId, owner: forger.id }]
      ]
      for (const [what, publicKey, more] of claims) {
        evil.documents.set("/users/forger", { ...document, publicKey, ...more })
        for (const keyId of [forger.keyId, victim.keyId]) {
          yield* TestClock.adjust(lookUpMillisMin)
          assert.isNotEmpty(yield* refused({ keyId, privatePem: forger.privatePem }), what)
        }
      }
      // A key's own document leads to its owner, which must list it.
      evil.documents.set("/users/forger", document)
      evil.documents.set("/key", {
        "@context": "https://www.w3.org/ns/activitystreams",
        id: `${evil.url}/key`,
        owner: victim.id,
        publicKeyPem: forger.publicPem
      })
      yield* Effect.flip(sender({ keyId: `${evil.url}/key`, privatePem: forger.privatePem }))
      // Two keys of one actor, and one on a second origin that the actor lists.
      const second = yield* keyPair
      evil.documents.set("/users/forger", {
        ...document,
        publicKey: [
          { id: forger.keyId, owner: forger.id, publicKeyPem: forger.publicPem },
          { id: `${forger.id}#second`, owner: forger.id, publicKeyPem: second.publicPem },
          { id: `${good.url}/users/victim#third`, owner: forger.id, publicKeyPem: second.publicPem }
        ]
      })
      yield* TestClock.adjust(lookUpMillisMin)
      assert.strictEqual((yield* sender(forger)).uri, forger.id)
      assert.strictEqual(
        (yield* sender({ keyId: `${forger.id}#second`, privatePem: second.privatePem })).uri,
        forger.id
      )
      yield* Effect.flip(sender({ keyId: `${good.url}/users/victim#third`, privatePem: second.privatePem }))
      yield* Effect.flip(sender({ keyId: victim.keyId, privatePem: forger.privatePem }))
      assert.strictEqual((yield* sender(victim)).uri, victim.id)
    }))

  it.effect("F27: a new key is trusted after one fetch from its origin, and fetches are rate limited", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const old = yield* there.actor("bea")
      yield* sender(old)
      yield* TestClock.adjust(lookUpMillisMin)
      const renewed = yield* there.actor("bea")
      const asked = () => there.requests.filter(({ url }) => url === "/users/bea").length
      const before = asked()
      assert.strictEqual((yield* sender(renewed)).uri, renewed.id)
      const looked = asked()
      assert.isAbove(looked, before)
      for (let n = 0; n < 20; n++) yield* refused(old)
      assert.strictEqual(asked(), looked)
      yield* TestClock.adjust(lookUpMillisMin)
      yield* refused(old)
      assert.isAbove(asked(), looked)
    }))

  it.effect("F27: a key that was removed is not trusted again because of an earlier lookup", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const old = yield* there.actor("cid")
      yield* sender(old)
      yield* TestClock.adjust("1 minute")
      const renewed = yield* there.actor("cid", { name: "renewed" })
      yield* RemoteActors.use(({ refresh }) => refresh(old.id))
      assert.strictEqual(yield* refused(old), `Verification failed for ${old.id}`)
      assert.strictEqual((yield* sender(renewed)).uri, renewed.id)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT display_name FROM accounts WHERE uri = ${old.id}`, [
        { displayName: "renewed" }
      ])
    }))

  it.effect("F44: an unavailable key is retried soon and the sender told to retry; a missing key is not", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const pair = yield* keyPair
      there.documents.set("/users/broken", (_, response) => response.writeHead(503).end())
      const broken = { keyId: `${there.url}/users/broken#main-key`, privatePem: pair.privatePem }
      assert.strictEqual((yield* Effect.flip(sender(broken)))._tag, "KeyUnavailable")
      assert.strictEqual((yield* Effect.flip(sender(broken)))._tag, "KeyUnavailable")
      assert.strictEqual(there.requests.length, 1)
      // The key works a minute after its origin is back; a known key is not looked up again for minutes.
      const back = yield* there.actor("broken")
      yield* TestClock.adjust(unavailableMillisMin)
      assert.strictEqual((yield* sender(back)).uri, back.id)
      const missing = { keyId: `${there.url}/users/nobody#main-key`, privatePem: pair.privatePem }
      assert.deepInclude(yield* Effect.flip(sender(missing)), {
        _tag: "Unverified",
        message: `Public key not found for key ${missing.keyId}`
      })
      for (
        const keyId of ["https://local.example/users/a#main-key", "acct:a@b", "", "javascript:1", "http://10.0.0.1/k"]
      ) {
        assert.strictEqual(
          (yield* Effect.flip(sender({ keyId, privatePem: pair.privatePem })))._tag,
          "Unverified",
          keyId
        )
      }
    }))

  it.effect("F100: a request that does not need its signer waits for the key only as long as it says", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const asked = yield* Deferred.make<void>()
      there.documents.set("/users/mute", () => {
        Deferred.doneUnsafe(asked, Exit.void)
      })
      const mute = { keyId: `${there.url}/users/mute#main-key`, privatePem: (yield* keyPair).privatePem }
      const request = yield* signed(mute)
      const waiting = yield* Effect.forkChild(Effect.flip(Senders.use(({ verify }) => verify(request, 5))))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "KeyUnavailable")
    }))

  it.effect("F15: junk causes one request and stores no account, and the accounts that it names still work", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [there, forged] = [yield* peer, yield* keyPair]
      const carl = yield* there.actor("carl")
      for (const fragment of ["main-key", "other", "main-key", "third"]) {
        yield* Effect.flip(sender({ keyId: `${carl.id}#${fragment}`, privatePem: forged.privatePem }))
      }
      assert.deepStrictEqual(there.requests.map(({ url }) => url), ["/users/carl"])
      assert.isEmpty(yield* sql`SELECT FROM accounts WHERE uri = ${carl.id}`)
      assert.strictEqual((yield* sender(carl)).uri, carl.id)
      assert.lengthOf(there.requests.filter(({ url }) => url === "/users/carl"), 1)
    }))

  it.effect("F15: junk from one address, and junk that names one host, causes a bounded number of requests", () =>
    Effect.gen(function*() {
      const [there, forged] = [yield* peer, yield* keyPair]
      const junk = (name: string, address: string) =>
        Effect.flatMap(
          signed({ keyId: `${there.url}/users/${name}#main-key`, privatePem: forged.privatePem }),
          (request) => Effect.flip(verify({ ...request, address }))
        )
      for (let n = 0; n < failedLookupsMax.address * 2; n++) yield* junk(`a${n}`, "192.0.2.1")
      assert.strictEqual(there.requests.length, failedLookupsMax.address)
      for (let n = 0; n < failedLookupsMax.host; n++) yield* junk(`b${n}`, `192.0.2.${n % 200}`)
      assert.strictEqual(there.requests.length, failedLookupsMax.host)
      // An unavailable account is retried a minute later; proven accounts use no budget.
      const dora = yield* there.actor("dora")
      assert.strictEqual((yield* Effect.flip(sender(dora)))._tag, "KeyUnavailable")
      yield* TestClock.adjust("1 minute")
      const spent = failedLookupsMax.address - 1
      for (let n = 0; n < spent; n++) yield* junk(`d${n}`, "192.0.2.9")
      for (const name of ["dora", "dirk", "dilan"]) {
        const one = name === "dora" ? dora : yield* there.actor(name)
        yield* Effect.flatMap(signed(one), (request) => verify({ ...request, address: "192.0.2.9" }))
      }
    }))

  it.effect.each(["a redirect", "host-meta", "a handle of its domain"])(
    "F188: a request to a host because of %s counts against its limit",
    (how) =>
      Effect.gen(function*() {
        const [there, victim, forged] = [yield* peer, yield* peer, yield* keyPair]
        const elsewhere = (_: unknown, response: ServerResponse) =>
          void response.writeHead(302, { location: `${victim.url}/users/a` }).end()
        there.documents.set("/.well-known/host-meta", (_, response) =>
          void response.writeHead(200, { "content-type": "application/xrd+xml" })
            .end(`<XRD><Link rel="lrdd" template="${victim.url}/finger?u={uri}"/></XRD>`))
        const junk = Effect.fnUntraced(function*(n: number) {
          const handle = `acct:a${n}@${there.domain}`
          if (how === "a redirect") {
            there.documents.set(`/users/a${n}`, elsewhere)
          }
          if (how === "a handle of its domain") {
            there.fingers.set(handle, there.finger(`a${n}`, `${there.url}/users/a`, `acct:a${n}@${victim.domain}`))
          }
          const keyId = how === "a redirect" ? `${there.url}/users/a${n}#main-key` : handle
          const request = yield* signed({ keyId, privatePem: forged.privatePem })
          yield* Effect.flip(verify({ ...request, address: `198.51.100.${n % 200}` }))
        })
        // Other lookups have used almost all of the victim's limit.
        const left = 5
        for (let n = 0; n < failedLookupsMax.host - left; n++) {
          const keyId = `${victim.url}/users/b${n}#main-key`
          const request = yield* signed({ keyId, privatePem: forged.privatePem })
          yield* Effect.flip(verify({ ...request, address: `198.51.100.${n % 200}` }))
        }
        // One more request, for host-meta, is shared by all lookups.
        const asked = () =>
          victim.requests.filter(({ url }) =>
            url !== "/.well-known/host-meta"
          ).length
        const before = asked()
        for (let n = 0; n < 4 * left; n++) {
          yield* junk(n)
        }
        assert.strictEqual(asked() - before, left)
      })
  )

  it.effect("F140: the key lookup of a signature counts from its start: a newer document stays", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id, keyId, privatePem } = yield* there.actor("omar", { name: "Old" })
      const old = JSON.stringify(there.documents.get("/users/omar"))
      const asked = yield* Deferred.make<ServerResponse>()
      there.documents.set("/users/omar", (_, response) => Effect.runSync(Deferred.succeed(asked, response)))
      const verified = yield* Effect.forkChild(sender({ keyId, privatePem }))
      const response = yield* Deferred.await(asked)
      yield* TestClock.adjust("1 second")
      there.documents.set("/users/omar", { ...Object(JSON.parse(old)), name: "New" })
      yield* RemoteActors.use(({ refresh }) => refresh(id))
      yield* TestClock.adjust("1 second")
      response.writeHead(200, activityJson).end(old)
      assert.strictEqual((yield* Fiber.join(verified)).uri, id)
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ name: string }>`SELECT display_name AS name FROM accounts WHERE uri = ${id}`
      assert.strictEqual(row?.name, "New")
    }))
})
