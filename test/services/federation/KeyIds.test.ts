import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { lookUpMillisMin } from "../../../src/services/federation/ActorLookups.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { Senders } from "../../../src/services/federation/Senders.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { Signatures, type SigningKey } from "../../../src/services/federation/signatures/Signatures.ts"
import { publicUrl } from "../../support/Reads.ts"
import { type Json, type Peer, peer, remote } from "./Peer.ts"

const context = ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"]

const sender = Effect.fnUntraced(function*(key: SigningKey) {
  const url = new URL(`${publicUrl}/inbox`)
  const body = new TextEncoder().encode("{}")
  const signed = yield* Signatures.use(({ sign }) =>
    sign("draft-cavage", key, { method: "POST", url, headers: {}, body })
  )
  const headers = { host: url.host, ...signed }
  return yield* Senders.use(({ verify }) => verify({ method: "POST", target: "/inbox", headers, body }))
})
const refused = (key: SigningKey) => Effect.map(Effect.flip(sender(key)), ({ _tag }) => _tag)

/** Changes fields of an actor's document. */
const change = (there: Peer, name: string, more: Json) => {
  const before = there.documents.get(`/users/${name}`)
  there.documents.set(`/users/${name}`, { ...Object(before), ...more })
}

layer(remote)("ids of keys", (it) => {
  it.effect("F83: an actor's id, and its handle, stand for every key that it lists", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const second = yield* Effect.flatMap(KeyOperations, ({ generate }) => generate)
      for (const [place, named] of (["id", "handle", "upper"] as const).entries()) {
        const one = yield* there.actor(`zoe${place}`)
        const publicKey = [
          { id: one.keyId, owner: one.id, publicKeyPem: one.publicPem },
          { id: `${one.id}#second`, owner: one.id, publicKeyPem: second.publicPem }
        ]
        change(there, `zoe${place}`, { publicKey })
        const handle = `zoe${place}@${there.domain}`
        const keyId = { id: one.id, handle: `acct:${handle}`, upper: `acct:ZOE${place}@${there.domain}` }[named]
        if (named === "upper") there.fingers.set(keyId, there.finger(`zoe${place}`, one.id))
        for (const { privatePem } of [one, second, one]) {
          assert.strictEqual((yield* sender({ keyId, privatePem })).uri, one.id, `${named} ${keyId}`)
        }
        const asked = there.requests.length
        assert.strictEqual((yield* sender({ keyId, privatePem: second.privatePem })).uri, one.id)
        assert.strictEqual(there.requests.length, asked, named)
        const other = yield* there.actor(`other${place}`)
        assert.strictEqual(yield* refused({ keyId, privatePem: other.privatePem }), "Unverified")
      }
    }))

  it.effect("F187: a key listed by two accounts of one server belongs to its owner, in both orders", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const store = (id: string) => RemoteActors.use(({ refresh }) => refresh(id))
      for (const [place, order] of (["thief first", "owner first"] as const).entries()) {
        for (const copied of [true, false]) {
          const name = `${place}${copied}`
          const [owner, thief] = [yield* there.actor(`owner${name}`), yield* there.actor(`thief${name}`)]
          const publicKeyPem = copied ? owner.publicPem : thief.publicPem
          change(there, `thief${name}`, {
            publicKey: [
              { id: thief.keyId, owner: thief.id, publicKeyPem: thief.publicPem },
              { id: owner.keyId, owner: thief.id, publicKeyPem }
            ]
          })
          for (const id of order === "thief first" ? [thief.id] : [owner.id, thief.id]) yield* store(id)
          const found = Effect.map(sender({ keyId: owner.keyId, privatePem: owner.privatePem }), ({ uri }) => uri)
          assert.strictEqual(yield* found, owner.id, `${order} ${copied}`)
          yield* store(thief.id)
          assert.strictEqual(yield* found, owner.id, `${order} ${copied}`)
          assert.strictEqual(yield* refused({ keyId: owner.keyId, privatePem: thief.privatePem }), "Unverified")
          assert.strictEqual((yield* sender(thief)).uri, thief.id)
        }
      }
    }))

  it.effect("F83: a key with its own document names its owner, and its owner names it", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const anna = yield* there.actor("anna")
      const keyId = `${there.url}/keys/anna`
      const key = { "@context": context, id: keyId, type: "Key", owner: anna.id, publicKeyPem: anna.publicPem }
      const forms: ReadonlyArray<readonly [string, unknown]> = [
        ["its address", keyId],
        ["a list of addresses", [`${there.url}/keys/none`, keyId]],
        ["an object without the key", { id: keyId, owner: anna.id }],
        ["the key", { id: keyId, owner: anna.id, publicKeyPem: anna.publicPem }]
      ]
      there.documents.set("/keys/anna", key)
      for (const [form, publicKey] of forms) {
        change(there, "anna", { publicKey })
        yield* TestClock.adjust(lookUpMillisMin)
        assert.strictEqual((yield* sender({ keyId, privatePem: anna.privatePem })).uri, anna.id, form)
        // A refresh of the account stores its keys.
        yield* RemoteActors.use(({ refresh }) => refresh(anna.id))
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT FROM remote_keys WHERE key_id = ${keyId}`, 1, form)
        assert.strictEqual((yield* sender({ keyId, privatePem: anna.privatePem })).uri, anna.id, form)
      }
      // As some servers do: an abridged actor at the key's URL.
      const bare = { "@context": context, id: `${there.url}/users/anna`, type: "Person", publicKey: key }
      there.documents.set("/keys/anna", bare)
      change(there, "anna", { publicKey: key })
      yield* TestClock.adjust(lookUpMillisMin)
      assert.strictEqual((yield* sender({ keyId, privatePem: anna.privatePem })).uri, anna.id)
    }))

  it.effect("F83: a key that only one side names is refused", () =>
    Effect.gen(function*() {
      const [there, evil] = [yield* peer, yield* peer]
      const [ben, forger] = [yield* there.actor("ben"), yield* evil.actor("forger")]
      const keyOf = (id: string, owner: string): Json => ({
        "@context": context,
        id,
        owner,
        publicKeyPem: forger.publicPem
      })
      const cases: ReadonlyArray<readonly [string, Peer, Json, unknown?]> = [
        ["the owner does not list it", there, keyOf(`${there.url}/key1`, ben.id)],
        ["another owner", there, keyOf(`${there.url}/key2`, forger.id), `${there.url}/key2`],
        ["another id", there, keyOf(`${there.url}/other`, ben.id), `${there.url}/key3`],
        ["another server's key", evil, keyOf(`${evil.url}/key4`, ben.id), `${evil.url}/key4`],
        ["no owner", there, { ...keyOf(`${there.url}/key5`, ben.id), owner: undefined }, `${there.url}/key5`]
      ]
      for (const [place, [what, server, document, listed]] of cases.entries()) {
        const path = `/key${place + 1}`
        server.documents.set(path, document)
        if (listed !== undefined) change(there, "ben", { publicKey: listed })
        const keyId = server.url + path
        assert.strictEqual(yield* refused({ keyId, privatePem: forger.privatePem }), "Unverified", what)
      }
      // A key's owner on another server is not fetched.
      assert.isFalse(there.requests.some(({ url }) => url === "/key4"))
      const asked = there.requests.length
      evil.documents.set("/key6", keyOf(`${evil.url}/key6`, `${there.url}/users/ben?6`))
      yield* refused({ keyId: `${evil.url}/key6`, privatePem: forger.privatePem })
      assert.strictEqual(there.requests.length, asked)
    }))

  it.effect("F83: a handle leads to its own actor, and a local handle is refused", () =>
    Effect.gen(function*() {
      const [there, evil] = [yield* peer, yield* peer]
      const [cid, forger] = [yield* there.actor("cid"), yield* evil.actor("forger")]
      const { privatePem } = forger
      // If its domain confirms Cid's handle, Cid's keys count.
      evil.fingers.set(`acct:cid@${evil.domain}`, evil.finger("cid", cid.id))
      const names = [
        `acct:cid@${evil.domain}`,
        `acct:cid@${there.domain}`,
        "acct:a@local.example",
        "acct:",
        "acct:@",
        "acct:a@b c"
      ]
      for (const keyId of names) assert.strictEqual(yield* refused({ keyId, privatePem }), "Unverified", keyId)
      assert.strictEqual((yield* sender({ keyId: `acct:cid@${there.domain}`, privatePem: cid.privatePem })).uri, cid.id)
      const many = Array.from({ length: 20 }, (_, n) => `${evil.url}/many${n}`)
      change(evil, "forger", { publicKey: many })
      const before = evil.requests.length
      yield* TestClock.adjust(lookUpMillisMin)
      assert.strictEqual(yield* refused({ keyId: forger.id, privatePem }), "Unverified")
      assert.isBelow(evil.requests.length - before, 6)
    }))
})
