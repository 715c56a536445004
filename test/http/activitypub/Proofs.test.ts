import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { ed25519, withProof } from "../../support/IntegrityProofs.ts"
import { eventually, follows, outcomeOf, timesAsked } from "./Exchange.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, sendBody, servers, settled } from "./Sending.ts"
import { storedNote } from "./StoredNotes.ts"

const context = ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v2"]
let count = 0

/** Creates a local account, a remote author that it follows, and a forwarding account on the author's server. */
const scene = Effect.fnUntraced(function*(name: string) {
  const { url } = yield* OtherServer
  const key = ed25519(`${url}/users/author${name}`)
  const [ada, author, relay] = [
    yield* newPerson(`ada${name}`),
    yield* there(`author${name}`, { assertionMethod: [key.method] }),
    yield* there(`relay${name}`)
  ]
  yield* found(ada, `author${name}`)
  yield* follows(ada.accountId, author.id)
  const activity = (more: Json): Json => ({
    "@context": context,
    id: `${author.id}/acts/${++count}`,
    actor: author.id,
    to: ["https://www.w3.org/ns/activitystreams#Public"],
    ...more
  })
  return { activity, ada, author, key, relay }
})

/** Forwards a document unchanged; returns the outcome of its activity. */
const handOn = (by: RemotePerson, document: Json) => Effect.andThen(sendBody(by, JSON.stringify(document)), settled)

layer(servers, { excludeTestServices: true })("proofs of authors", (it) => {
  it.effect("F88: an activity with its author's proof is trusted from any sender, without a fetch", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { activity, ada, author, key, relay } = yield* scene("1")
      const written = note(author, "proven", { published: new Date().toISOString() })
      assert.strictEqual(yield* handOn(relay, withProof(activity({ type: "Create", object: written }), key)), "done")
      assert.deepInclude(yield* storedNote(written["id"]), { visibility: "public", gone: false })
      const edited = { ...written, content: "<p>edited</p>", updated: new Date(Date.now() + 1_000).toISOString() }
      assert.strictEqual(yield* handOn(relay, withProof(activity({ type: "Update", object: edited }), key)), "done")
      const { uri, id } = yield* publish(ada, "like me")
      const like = activity({ type: "Like", object: uri })
      assert.strictEqual(yield* handOn(relay, withProof(like, key)), "done")
      const likes = Effect.map(sql`SELECT FROM favourites WHERE status_id = ${BigInt(id)}`, (rows) => rows.length)
      assert.strictEqual(yield* likes, 1)
      // Forwarding it again after it was undone has no effect.
      assert.strictEqual(yield* deliverFrom(author, { type: "Undo", object: like["id"] }), "done")
      assert.strictEqual(yield* likes, 0)
      yield* handOn(relay, withProof(like, key, { created: new Date(Date.now() - 60_000).toISOString() }))
      assert.strictEqual(yield* likes, 0)
      // A proved activity has no second effect after its author sent it, or in another serialisation, which the proof allows.
      const second: Json = withProof(activity({ type: "Like", object: uri }), key)
      assert.strictEqual(yield* handOn(author, second), "done")
      assert.strictEqual(yield* likes, 1)
      assert.strictEqual(yield* deliverFrom(author, { type: "Undo", object: second["id"] }), "done")
      for (const replayed of [second, Object.fromEntries(Object.entries(second).toReversed())]) {
        yield* handOn(relay, replayed)
        yield* sendBody(relay, JSON.stringify(replayed, undefined, 2))
        yield* settled
        assert.strictEqual(yield* likes, 0)
      }
      // An activity without an id could not be deduplicated.
      const { id: _, ...nameless } = activity({ type: "Like", object: uri })
      yield* handOn(relay, withProof(nameless, key))
      assert.strictEqual(yield* likes, 0)
      const gone = activity({ type: "Delete", object: { id: written["id"], type: "Tombstone" } })
      assert.strictEqual(yield* handOn(relay, withProof(gone, key)), "done")
      assert.deepInclude(yield* storedNote(written["id"]), { gone: true })
      assert.strictEqual(yield* timesAsked(written["id"]), 0)
    }))

  it.effect("F88: an invalid proof counts as none", () =>
    Effect.gen(function*() {
      const { activity, author, key, relay } = yield* scene("2")
      const other = ed25519(relay.id)
      const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString()
      const forms: Readonly<Record<string, (document: Json) => Json>> = {
        "no proof": (document) => document,
        "changed afterwards": (document) => ({ ...withProof(document, key), summary: "changed" }),
        "another's key": (document) => withProof(document, { ...key, keyId: other.keyId }),
        "a key that is not listed": (document) => withProof(document, ed25519(author.id, "other")),
        "signed by another": (document) => withProof(document, { ...other, keyId: key.keyId }),
        "the RSA key": (document) => withProof(document, { ...key, keyId: author.keyId }),
        "old": (document) => withProof(document, key, { created: hours(-24) }),
        "early": (document) => withProof(document, key, { created: hours(2) }),
        "expired": (document) => withProof(document, key, { expires: hours(-0.01) }),
        "another purpose": (document) => withProof(document, key, { proofPurpose: "authentication" }),
        "another's actor": (document) => withProof({ ...document, actor: relay.id, "@context": context }, key)
      }
      for (const [form, change] of Object.entries(forms)) {
        const written = note(author, `unproven${form.replaceAll(" ", "")}`, { published: new Date().toISOString() })
        const document = change(activity({ type: "Create", object: written }))
        yield* sendBody(relay, JSON.stringify(document))
        // The object is fetched from its origin, which does not have it, or the activity is ignored.
        yield* eventually(outcomeOf(String(document["id"])))
        assert.isUndefined(yield* storedNote(written["id"]), form)
      }
      // An author's own delivery needs no proof, and is accepted with an invalid one.
      const own = note(author, "own", { published: new Date().toISOString() })
      const create = { ...withProof(activity({ type: "Create", object: own }), key), summary: "changed" }
      assert.strictEqual(yield* handOn(author, create), "done")
      assert.deepInclude(yield* storedNote(own["id"]), { gone: false })
    }))

  it.effect("F88: a proven author is judged like a sender: blocks and ids count", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { activity, ada, key, relay } = yield* scene("3")
      const account = yield* found(ada, "author3")
      yield* json(ada, `/api/v1/accounts/${account.id}/block`, {})
      const { id, uri } = yield* publish(ada, "no likes")
      yield* handOn(relay, withProof(activity({ type: "Like", object: uri }), key))
      assert.isEmpty(yield* sql`SELECT FROM favourites WHERE status_id = ${BigInt(id)}`)
      // A proof says nothing about other accounts' objects.
      const stranger = note(relay, "another's", { cc: [yield* actorOf(ada)] })
      yield* handOn(relay, withProof(activity({ type: "Create", object: stranger }), key))
      assert.isUndefined(yield* storedNote(stranger["id"]))
    }))

  it.effect("F88: an activity with its author's proof is trusted inside of an Announce, too, as groups and relays send it", () =>
    Effect.gen(function*() {
      const { activity, ada, author, key, relay } = yield* scene("5")
      const announce = (object: Json, more: Json = {}): Json => ({
        "@context": context,
        id: `${relay.id}/acts/${++count}`,
        type: "Announce",
        actor: relay.id,
        to: ["https://www.w3.org/ns/activitystreams#Public"],
        object,
        ...more
      })
      const written = note(author, "announced", { published: new Date().toISOString() })
      const create = activity({ type: "Create", object: written })
      assert.strictEqual(yield* handOn(relay, announce(withProof(create, key))), "done")
      assert.deepInclude(yield* storedNote(written["id"]), { visibility: "public", gone: false })
      assert.strictEqual(yield* timesAsked(written["id"]), 0)
      // Without its proof, with an invalid one, in another type, or about an account that is blocked, it has no effect.
      const unproven = note(author, "unannounced", { published: new Date().toISOString() })
      const other = activity({ type: "Create", object: unproven })
      const changed = { ...withProof(other, key), summary: "changed" }
      for (const document of [announce(other), announce(changed), announce(withProof(other, key), { type: "Like" })]) {
        yield* sendBody(relay, JSON.stringify(document))
        yield* settled
        assert.isUndefined(yield* storedNote(unproven["id"]))
      }
      const account = yield* found(ada, "author5")
      yield* json(ada, `/api/v1/accounts/${account.id}/block`, {})
      const { id, uri } = yield* publish(ada, "no likes")
      yield* handOn(relay, announce(withProof(activity({ type: "Like", object: uri }), key)))
      assert.strictEqual((yield* json(ada, `/api/v1/statuses/${id}`)).favourites_count, 0)
    }))

  it.effect("F88: the server's actor lists its capabilities, and other actors link to it", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada4")
      const getAsAda = (path: string) => json(ada, path)
      const instance = yield* getAsAda("/actor")
      const names: ReadonlyArray<string> = instance.implements.map(({ href }: { readonly href: string }) => href)
      assert.includeMembers([...names], ["https://datatracker.ietf.org/doc/html/rfc9421", "https://w3id.org/fep/8b32"])
      for (const link of instance.implements) assert.hasAllKeys(link, ["type", "href", "name"])
    }))
})
