import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { TestServer } from "../../support/Server.ts"
import { follows } from "./Exchange.ts"
import { actorOf, found, mentioning, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, servers } from "./Sending.ts"

/** Activities that carry a post, which replies to or quotes `about`. */
const carriers: Readonly<Record<string, (by: RemotePerson, about: string, post: Json) => Json>> = {
  Create: (_, __, object) => ({ type: "Create", object }),
  Update: (_, __, object) => ({
    type: "Update",
    object: { ...object, updated: new Date().toISOString() }
  }),
  Announce: (_, __, object) => ({
    type: "Announce",
    object,
    to: ["https://www.w3.org/ns/activitystreams#Public"]
  }),
  ReplyRequest: (by, about, instrument) => ({
    id: `${by.id}/requests/${String(instrument["id"])}`,
    type: "ReplyRequest",
    object: about,
    instrument: { ...instrument, inReplyTo: about }
  }),
  QuoteRequest: (by, about, instrument) => ({
    id: `${by.id}/requests/${String(instrument["id"])}`,
    type: "QuoteRequest",
    object: about,
    instrument: { ...instrument, quote: about }
  })
}

layer(servers, { excludeTestServices: true })("posts that activities carry", (it) => {
  it.effect("F70: posts in any activity by a blocked sender mention no one, and those of a rejected domain attach no file", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain, url } = yield* OtherServer
      const { variables } = yield* TestServer
      const [ada, bob, zoe] = [yield* newPerson("ada"), yield* newPerson("bob"), yield* there("zoe")]
      const account = yield* found(bob, "zoe")
      yield* follows(bob.accountId, zoe.id)
      yield* json(ada, `/api/v1/accounts/${account.id}/block`, {})
      yield* cli(["domain", "block", domain, "--severity", "noop", "--reject-media"], variables)
      const picture = { type: "Document", mediaType: "image/png", url: `${url}/a.png` }
      const emoji = { type: "Emoji", name: ":blob:", icon: { type: "Image", url: `${url}/blob.png` } }
      for (const [name, carry] of Object.entries(carriers)) {
        const about = yield* publish(bob, name, { quote_approval_policy: "public" })
        const { cc, tag } = mentioning(yield* actorOf(ada))
        const carried = note(zoe, name, {
          cc,
          tag: [...tag, emoji],
          attachment: [picture],
          published: new Date().toISOString()
        })
        yield* deliverFrom(zoe, carry(zoe, String(about.uri), carried))
        const [stored] = yield* sql`SELECT (SELECT count(*)::int FROM mentions m WHERE m.status_id = s.id) AS mentions,
          cardinality(media_ids) AS files FROM statuses s WHERE uri = ${String(carried["id"])}`
        assert.deepStrictEqual(stored, { mentions: 0, files: 0 }, name)
      }
      assert.isEmpty(yield* told(ada))
      assert.isEmpty(yield* sql`SELECT FROM custom_emojis WHERE shortcode = 'blob'`)
      yield* cli(["domain", "unblock", domain], variables)
    }))

  it.effect("F70: file types are dropped for domains whose files are rejected", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain, url } = yield* OtherServer
      const { variables } = yield* TestServer
      const [cleo, yan] = [yield* newPerson("cleo"), yield* there("yan")]
      yield* follows(cleo.accountId, (yield* found(cleo, "yan"), yan.id))
      const film = (name: string) => ({
        ...note(yan, name, { type: "Video", name: "A film" }),
        url: [
          { type: "Link", mediaType: "text/html", href: `${yan.id}/watch` },
          { type: "Link", mediaType: "video/mp4", href: `${url}/a.mp4` }
        ]
      })
      const files = (name: string) =>
        Effect.andThen(
          deliverFrom(yan, { type: "Create", object: film(name) }),
          sql`SELECT url, cardinality(media_ids) AS files FROM statuses WHERE uri = ${`${yan.id}/notes/${name}`}`
        )
      assert.deepStrictEqual(yield* files("before"), [{ url: `${yan.id}/watch`, files: 1 }])
      yield* cli(["domain", "block", domain, "--severity", "noop", "--reject-media"], variables)
      assert.deepStrictEqual(yield* files("after"), [{ url: `${yan.id}/watch`, files: 0 }])
      yield* cli(["domain", "unblock", domain], variables)
    }))
})
