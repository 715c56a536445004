import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { actorOf, there } from "../../http/activitypub/InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers, settled } from "../../http/activitypub/Sending.ts"
import { type Json, peer } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const context = "https://www.w3.org/ns/activitystreams"
/** Returns all stored data about other servers that a lie could change. */
const known = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`SELECT (SELECT json_agg(a ORDER BY uri) FROM (SELECT uri, display_name, username FROM accounts
        WHERE uri IS NOT NULL) a)::text AS accounts,
      (SELECT json_agg(k ORDER BY key_id) FROM (SELECT key_id, public_pem, account_id FROM remote_keys) k)::text AS keys,
      (SELECT json_agg(s ORDER BY id) FROM (SELECT id, uri, html, account_id, deleted_at FROM statuses) s)::text AS statuses,
      (SELECT count(*) FROM favourites)::int AS favourites, (SELECT count(*) FROM follows)::int AS follows,
      (SELECT count(*) FROM follow_requests)::int AS requests, (SELECT count(*) FROM blocks)::int AS blocks,
      (SELECT count(*) FROM reports)::int AS reports, (SELECT count(*) FROM notifications)::int AS notifications`
)

const resolve = (by: Parameters<typeof json>[0], text: string) =>
  json(by, `/api/v2/search?resolve=true&q=${encodeURIComponent(text)}`)

layer(servers, { excludeTestServices: true })(
  "a hostile server lies about identities",
  (it) => {
    it.effect("row 1: a document that claims another's id is refused, wherever it is found and however it is reached", () =>
      Effect.gen(function*() {
        const { documents, domain, finger, fingers, url } = yield* OtherServer
        const good = yield* peer
        const [ada, victim, evil] = [
          yield* newPerson("ada"),
          yield* good.actor("victim", { name: "True" }),
          yield* there("evil")
        ]
        const me = yield* actorOf(ada)
        yield* deliverFrom(victim, { type: "Follow", object: me })
        yield* deliverFrom(evil, { type: "Follow", object: me })
        const lie = {
          ...(documents.get("/users/evil") as Json),
          id: victim.id,
          name: "False",
          preferredUsername: "victim"
        }
        documents.set("/direct", lie)
        documents.set("/redirect", (_, response) => response.writeHead(302, { location: `${url}/direct` }).end())
        documents.set("/chain", (_, response) => response.writeHead(302, { location: `${url}/redirect` }).end())
        documents.set("/alternate", { ...lie, id: `${url}/other` })
        documents.set("/other", lie)
        const before = yield* known
        for (const shape of ["direct", "redirect", "chain", "alternate"]) {
          const address = `${url}/${shape}`
          yield* resolve(ada, address)
          fingers.set(`acct:${shape}@${domain}`, finger(shape, address))
          yield* resolve(ada, `${shape}@${domain}`)
          const keyId = `${address}#main-key`
          const status = yield* send({ ...evil, keyId }, { type: "Follow", object: me, actor: victim.id })
          assert.strictEqual(status, 401, shape)
          assert.strictEqual(yield* sendBody({ ...evil, keyId: address }, "{}"), 401, shape)
        }
        // Embedded objects are not trusted either.
        const stolen = { ...note(victim, "stolen"), content: "<p>False</p>", cc: [me] }
        for (
          const activity of [
            { type: "Create", object: stolen },
            { type: "Announce", object: stolen },
            { type: "Update", object: stolen },
            { type: "Update", object: { ...lie } },
            { type: "Create", object: { ...note(evil, "two"), attributedTo: [victim.id] } },
            { type: "Create", object: { ...note(evil, "three"), id: `${victim.id}/notes/3`, attributedTo: evil.id } }
          ]
        ) assert.match((yield* deliverFrom(evil, activity)) ?? "", /^ignored/, JSON.stringify(activity))
        assert.deepStrictEqual(yield* known, before)
      }))

    it.effect("row 6: a foreign signature inside a document gives no access, in none of the published shapes", () =>
      Effect.gen(function*() {
        const { domain } = yield* OtherServer
        const elsewhere = yield* peer
        const [bob, author, evil] = [yield* newPerson("bob"), yield* there("author"), yield* elsewhere.actor("evil")]
        const me = yield* actorOf(bob)
        yield* deliverFrom(author, { type: "Follow", object: me })
        const bomb = `${elsewhere.url}/context`
        const object = note(author, "forged", { cc: [me], tag: [{ type: "Mention", href: me }] })
        const signature = {
          type: "RsaSignature2017",
          creator: author.keyId,
          created: "2026-01-01T00:00:00Z",
          signatureValue: "x"
        }
        const forged = { id: `${author.id}/1`, type: "Create", actor: author.id, object, signature }
        const shapes: ReadonlyArray<Json> = [
          { "@context": context, ...forged },
          { "@context": [context, "https://w3id.org/security/v1", bomb], ...forged },
          { "@context": context, id: `${author.id}/2`, type: "Follow", actor: author.id, object: me, signature },
          { "@context": context, "@graph": [forged] },
          { "@context": context, "@included": [forged], type: "Create", actor: evil.id, id: `${evil.id}/1` },
          { "@context": context, "@reverse": { object: forged }, type: "Create", actor: evil.id, id: `${evil.id}/2` },
          { "@context": { "@vocab": context, actor: { "@id": "as:actor", "@nest": "x" } }, x: forged, ...forged },
          { "@context": [context, { actor: "as:object", object: "as:actor" }], ...forged },
          { "@context": context, ...forged, actor: [author.id, evil.id] },
          { "@context": context, ...forged, actor: { id: author.id, publicKey: { publicKeyPem: evil.publicPem } } }
        ]
        const before = yield* known
        for (const shape of shapes) {
          assert.include([202, 400], yield* sendBody(evil, JSON.stringify(shape)), JSON.stringify(shape))
          yield* settled
        }
        assert.strictEqual(yield* sendBody(evil, JSON.stringify([{ "@context": context, ...forged }])), 400)
        const { accounts: _, keys: __, ...after } = (yield* known)[0] ?? {}
        const { accounts: ___, keys: ____, ...then } = before[0] ?? {}
        assert.deepStrictEqual(after, then)
        assert.isFalse(elsewhere.requests.some(({ url }) => url === "/context"))
        assert.isNotEmpty(domain)
      }))

    it.effect("row 7: a document that differs when it is fetched again is refused", () =>
      Effect.gen(function*() {
        const { documents, url } = yield* OtherServer
        const good = yield* peer
        const [cleo, victim] = [yield* newPerson("cleo"), yield* good.actor("target")]
        yield* there("turncoat")
        const plain = documents.get("/users/turncoat") as Json
        let asked = 0
        const turning = (first: Json, then: Json) => {
          asked = 0
          documents.set("/users/turncoat", (_, response) =>
            response.writeHead(200, { "content-type": "application/activity+json" })
              .end(JSON.stringify(asked++ === 0 ? first : then)))
        }
        documents.set("/elsewhere", { ...plain, id: `${url}/users/turncoat` })
        const before = yield* known
        for (
          const then of [
            { ...plain, id: victim.id },
            { ...plain, type: "Note" },
            { ...plain, id: `${url}/users/third` },
            { ...plain, "@context": "https://other.example/context" }
          ]
        ) {
          turning(then, then)
          assert.isEmpty((yield* resolve(cleo, `${url}/elsewhere`)).accounts, JSON.stringify(then))
          turning({ ...plain, id: `${url}/users/turncoat2` }, then)
          assert.isEmpty((yield* resolve(cleo, `${url}/users/turncoat`)).accounts, JSON.stringify(then))
        }
        assert.deepStrictEqual(yield* known, before)
        documents.set("/users/turncoat", plain)
        assert.lengthOf((yield* resolve(cleo, `${url}/elsewhere`)).accounts, 1)
      }))

    it.effect("row 8 row 16: an account cannot undo, accept, move, pin or vote for another one, on the same server or not", () =>
      Effect.gen(function*() {
        const elsewhere = yield* peer
        const { baseUrl } = yield* TestServer
        const [dan, emma] = [yield* newPerson("dan"), yield* newPerson("emma")]
        const [owner, near, far] = [yield* there("owner"), yield* there("near"), yield* elsewhere.actor("far")]
        const [me, her] = [yield* actorOf(dan), yield* actorOf(emma)]
        const status = yield* json(dan, "/api/v1/statuses", { status: "mine" })
        yield* deliverFrom(owner, {
          type: "Create",
          object: note(owner, "his", { cc: [me], tag: [{ type: "Mention", href: me }] })
        })
        for (
          const activity of [
            { type: "Follow", object: me },
            { type: "Like", object: status.uri },
            { type: "Announce", id: `${owner.id}/boost`, object: status.uri, to: [`${context}#Public`] },
            { type: "Block", object: her }
          ]
        ) yield* deliverFrom(owner, activity)
        const { accounts: [found] } = yield* resolve(dan, owner.id)
        yield* json(dan, `/api/v1/accounts/${found.id}/follow`, undefined, "POST")
        // The liars are already known, so that they are not counted as new accounts.
        for (const liar of [near, far]) yield* deliverFrom(liar, { type: "Like", object: "nothing" })
        const before = yield* known
        const his = `${owner.id}/notes/his`
        const inner = (type: string, object: string) => ({ id: `${owner.id}/x`, type, actor: owner.id, object })
        const follow = { type: "Follow", actor: me, object: owner.id }
        const attempts: ReadonlyArray<Json> = [
          ...["Like", "Announce"].map((type) => ({ type: "Undo", object: inner(type, status.uri) })),
          ...["Follow", "Block"].map((type) => ({ type: "Undo", object: inner(type, type === "Follow" ? me : her) })),
          { type: "Undo", object: `${owner.id}/boost` },
          { type: "Accept", object: follow },
          { type: "Accept", object: { ...follow, object: near.id } },
          { type: "Accept", object: { type: "Follow", actor: her, object: near.id } },
          { type: "Reject", object: follow },
          { type: "Reject", object: inner("Follow", me) },
          { type: "Add", object: his, target: `${owner.id}/collections/featured` },
          { type: "Remove", object: his, target: `${owner.id}/collections/featured` },
          { type: "Move", object: owner.id, target: near.id },
          { type: "Delete", object: owner.id },
          { type: "Delete", object: { id: his, type: "Tombstone" } },
          { type: "Update", object: { ...note(owner, "his"), updated: new Date().toISOString(), content: "x" } },
          { type: "Delete", object: `${baseUrl}/users/dan` },
          { type: "Update", object: { id: me, type: "Person", name: "Not Dan" } },
          {
            type: "Create",
            object: { ...note(near, "vote"), attributedTo: owner.id, name: "Yes", inReplyTo: status.uri }
          }
        ]
        for (const liar of [near, far]) {
          for (const attempt of attempts) yield* deliverFrom(liar, attempt)
        }
        assert.deepStrictEqual(yield* known, before)
        // The real owner's activities take effect, each once.
        assert.strictEqual(yield* deliverFrom(owner, { type: "Accept", object: follow }), "done")
        assert.match((yield* deliverFrom(owner, { type: "Accept", object: follow })) ?? "", /^ignored/)
        assert.strictEqual(yield* deliverFrom(owner, { type: "Undo", object: inner("Like", status.uri) }), "done")
      }))
  }
)
