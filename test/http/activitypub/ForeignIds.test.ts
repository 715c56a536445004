import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Json, type Peer, peer } from "../../services/federation/Peer.ts"
import { sendJson } from "../../services/outbound/FarHosts.ts"
import { json } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { eventually, follows, outcome, resolved, serve } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, send, servers } from "./Sending.ts"

const context = { "@context": "https://www.w3.org/ns/activitystreams" }
const published = new Date(Date.now() - 3_600_000).toISOString()
let count = 0

/** Ways in which a server can claim another server's post. Each returns the URL of the document. */
const shapes: Readonly<Record<string, (evil: Peer, forged: Json) => string>> = {
  "as it is": (evil, forged) => {
    const at = `/forged/${++count}`
    evil.documents.set(at, (_, response) => sendJson(response, { ...context, ...forged }))
    return evil.url + at
  },
  "behind moves": (evil, forged) => {
    const [from, by, at] = [`/moved/${++count}`, `/moving/${count}`, `/there/${count}`]
    evil.documents.set(from, (_, response) => response.writeHead(302, { location: by }).end())
    evil.documents.set(by, (_, response) => response.writeHead(302, { location: at }).end())
    evil.documents.set(at, (_, response) => sendJson(response, { ...context, ...forged }))
    return evil.url + from
  },
  "behind an id of its own": (evil, forged) => {
    const [at, its] = [`/first/${++count}`, `/its/${count}`]
    evil.documents.set(at, (_, response) => sendJson(response, { ...context, ...forged, id: evil.url + its }))
    evil.documents.set(its, (_, response) => sendJson(response, { ...context, ...forged }))
    return evil.url + at
  },
  "behind a page": (evil, forged) => {
    const [page, at] = [`/page/${++count}`, `/linked/${count}`]
    evil.documents.set(at, (_, response) => sendJson(response, { ...context, ...forged }))
    evil.documents.set(page, (_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<link rel="alternate" type="application/activity+json" href="${at}">`
      ))
    return evil.url + page
  }
}

const entry = <A, E, R>(name: string, by: (address: string, forged: Json) => Effect.Effect<A, E, R>) => ({
  name,
  by: (address: string, forged: Json) => Effect.ignore(by(address, forged))
})

layer(servers, { excludeTestServices: true })("row 1: posts under ids of others", (it) => {
  it.effect("are not stored, wherever they are named and however they are served", () =>
    Effect.gen(function*() {
      const [server, evil, honest] = [yield* TestServer, yield* OtherServer, yield* peer]
      const anna = yield* server.createPerson("anna")
      const [thief, victim] = [yield* evil.actor("thief"), yield* honest.actor("victim")]
      yield* deliverFrom(thief, { type: "Like", object: "https://nowhere.test/1" })
      yield* follows(anna.accountId, thief.id)
      const mine = yield* json(anna, "/api/v1/statuses", { status: "mine" })
      const everybody = { to: ["https://www.w3.org/ns/activitystreams#Public"] }
      const over = eventually(outcome)
      const sent = (activity: Json, by: RemotePerson = thief) => Effect.andThen(send(by, activity), over)
      /** Waits until a conversation or profile is fetched. */
      const lookedUp = (kind: string) =>
        eventually(Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.map(
            sql`SELECT FROM look_ups WHERE kind = ${kind} AND ended_at IS NULL`,
            (rows) => rows.length === 0 ? true : undefined
          )))

      const entries = [
        entry("a search", (address) => resolved(anna.token, address)),
        entry("a boost by address", (address) => sent({ type: "Announce", object: address, ...everybody })),
        entry("a boost in full", (_, forged) => sent({ type: "Announce", object: forged, ...everybody })),
        entry("a Create by address", (address) => sent({ type: "Create", object: address })),
        entry(
          "a Create in full",
          (_, forged) => sent({ type: "Create", object: { ...forged, inReplyTo: mine.uri } })
        ),
        entry("an Update by address", (address) => sent({ type: "Update", object: address })),
        entry(
          "an Update in full",
          (_, forged) => sent({ type: "Update", object: { ...forged, updated: published } })
        ),
        entry(
          "what is handed on",
          (_, forged) => sent({ type: "Create", actor: victim.id, object: { ...forged, inReplyTo: mine.uri } })
        ),
        entry(
          "a parent",
          (address) => sent({ type: "Create", object: note(thief, `child${++count}`, { inReplyTo: address }) })
        ),
        entry("a reply", (address, forged) =>
          Effect.gen(function*() {
            const post = note(thief, `asked${++count}`, {
              published,
              replies: { type: "Collection", items: [address, forged] }
            })
            yield* serve(post)
            const { statuses } = yield* json(
              anna,
              `/api/v2/search?resolve=true&q=${encodeURIComponent(String(post["id"]))}`
            )
            yield* json(anna, `/api/v1/statuses/${statuses[0].id}/context`)
            yield* lookedUp("thread")
          })),
        entry("an outbox and a featured collection", (address, forged) =>
          Effect.gen(function*() {
            const name = `profile${++count}`
            const id = `${evil.url}/users/${name}`
            yield* evil.actor(name, { outbox: `${id}/outbox`, featured: `${id}/featured` })
            const create = { type: "Create", actor: id, object: forged }
            yield* serve(
              { id: `${id}/outbox`, type: "OrderedCollection", orderedItems: [create, { ...create, object: address }] },
              { id: `${id}/featured`, type: "OrderedCollection", orderedItems: [forged, address] }
            )
            const { accounts } = yield* json(anna, `/api/v2/search?resolve=true&q=${encodeURIComponent(id)}`)
            yield* json(anna, `/api/v1/accounts/${accounts[0].id}/statuses`)
            yield* lookedUp("profile")
          }))
      ]
      const sql = yield* SqlClient.SqlClient
      for (const [shape, place] of Object.entries(shapes)) {
        for (const { by, name: at } of entries) {
          const name = `forged${++count}`
          const claims = [
            note(victim, name, { published, content: "forged" }),
            // An id on the author's own server, but of another account.
            { ...note(victim, name, { published, content: "forged" }), id: `${thief.id}/notes/${name}` }
          ]
          for (const forged of claims) yield* by(place(evil, forged), forged)
          const here = yield* sql`SELECT FROM statuses WHERE html LIKE '%forged%'`
          assert.isEmpty(here, `${at}, ${shape}`)
        }
      }
    }))
})
