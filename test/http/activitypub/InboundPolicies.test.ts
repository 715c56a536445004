import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { TestServer } from "../../support/Server.ts"
import { eventually, resolved, serve } from "./Exchange.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers, settled } from "./Sending.ts"

/** Counts the rows of every kind that an activity may create. */
const traces = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`SELECT (SELECT count(*) FROM statuses)::int AS statuses, (SELECT count(*) FROM favourites)::int AS favourites,
    (SELECT count(*) FROM follows)::int AS follows, (SELECT count(*) FROM follow_requests)::int AS requests,
    (SELECT count(*) FROM notifications)::int AS notifications, (SELECT count(*) FROM mentions)::int AS mentions`
)

layer(servers, { excludeTestServices: true })("rules for inbound activities", (it) => {
  /** Returns every activity that an account could send to Ada; another account is her friend. */
  const everything = (me: string, status: { uri: string }, by: { id: string }): ReadonlyArray<Json> => [
    { type: "Like", object: status.uri },
    { type: "EmojiReact", object: status.uri, content: "x" },
    { type: "Announce", object: status.uri, to: ["https://www.w3.org/ns/activitystreams#Public"] },
    { type: "Follow", object: me },
    {
      type: "Create",
      object: note(by, "mention", { cc: [me], tag: [{ type: "Mention", href: me }] })
    },
    { type: "Create", object: note(by, "direct", { to: [me], cc: [] }) },
    { type: "Flag", object: [me], content: "bad" },
    { type: "Block", object: me }
  ]

  it.effect("row 17: activities of a blocked account have no effect on the account that blocks it", () =>
    Effect.gen(function*() {
      const [ada, zoe] = [yield* newPerson("ada"), yield* there("zoe")]
      const me = yield* actorOf(ada)
      const status = yield* json(ada, "/api/v1/statuses", { status: "hello" })
      yield* deliverFrom(zoe, { type: "Follow", object: me })
      const [{ account }] = yield* json(ada, "/api/v1/notifications")
      yield* json(ada, `/api/v1/accounts/${account.id}/block`, undefined, "POST")
      const before = yield* traces
      const outcomes = new Map<string, string>()
      for (const activity of everything(me, status, zoe).slice(0, 6)) {
        const outcome = yield* deliverFrom(zoe, activity)
        outcomes.set(String(activity["type"]), outcome ?? "")
        assert.match(outcome ?? "", /^(?:dropped|ignored): /, JSON.stringify(activity))
      }
      assert.strictEqual(outcomes.get("Like"), "dropped: a block is between its sender and the author of its object")
      assert.strictEqual(
        outcomes.get("Announce"),
        "dropped: a block is between its sender and the author of its object"
      )
      assert.deepStrictEqual(yield* traces, before)
      assert.isEmpty(yield* json(ada, "/api/v1/notifications"))
      // Another mentioned account is notified, and Ada is not.
      const bob = yield* newPerson("bob")
      yield* acceptPrivateMentions(bob)
      const [both, to] = [[me, yield* actorOf(bob)], yield* actorOf(bob)]
      const tag = both.map((href) => ({ type: "Mention", href }))
      const outcome = yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "both", { to: both, cc: [], tag }) })
      assert.strictEqual(outcome, "done; changed: a block between its sender and an account that it references")
      assert.lengthOf(yield* json(bob, "/api/v1/notifications"), 1)
      const [{ status: told }] = yield* json(bob, "/api/v1/notifications")
      assert.deepStrictEqual(told.mentions.map(({ username }: { username: string }) => username), ["bob"])
      assert.isEmpty(yield* json(ada, "/api/v1/notifications"))
      assert.include(to, "bob")
    }))

  it.effect("row 17: activities of an account suspended by moderators are not even stored, except for undoing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [cleo, yan] = [yield* newPerson("cleo"), yield* there("yan")]
      const me = yield* actorOf(cleo)
      const status = yield* json(cleo, "/api/v1/statuses", { status: "hello" })
      yield* deliverFrom(yan, { type: "Like", object: status.uri })
      yield* sql`UPDATE accounts SET suspended_at = '2026-01-01' WHERE username = 'yan'`
      const before = yield* traces
      // The key was used a moment ago; the account's actor knows of the suspension.
      for (const activity of everything(me, status, yan)) {
        assert.strictEqual(yield* deliverFrom(yan, activity), "dropped: its sender is suspended")
      }
      assert.deepStrictEqual(yield* traces, before)
      assert.strictEqual(
        yield* deliverFrom(yan, { type: "Undo", object: { type: "Like", object: status.uri } }),
        "done"
      )
      assert.strictEqual((yield* json(cleo, `/api/v1/statuses/${status.id}`)).favourites_count, 0)
    }))

  it.effect("row 17: an author cannot mention an account that blocks it, by any spelling of its id, nor in a boost", () =>
    Effect.gen(function*() {
      const [emil, fay, will] = [yield* newPerson("emil"), yield* newPerson("fay"), yield* there("will")]
      const [me, other] = [yield* actorOf(emil), yield* actorOf(fay)]
      yield* deliverFrom(will, { type: "Follow", object: other })
      yield* deliverFrom(will, { type: "Follow", object: me })
      const [{ account }] = yield* json(emil, "/api/v1/notifications")
      yield* json(emil, `/api/v1/accounts/${account.id}/block`, undefined, "POST")
      yield* json(fay, `/api/v1/accounts/${account.id}/follow`, undefined, "POST")
      yield* deliverFrom(will, { type: "Accept", object: { type: "Follow", actor: other, object: will.id } })
      const spellings = [me, me.replace("emil", "Emil"), me.replace("users/", "@"), `${me}/`]
      const mentioning = { cc: [...spellings, other], tag: spellings.map((href) => ({ type: "Mention", href })) }
      const everybody = ["https://www.w3.org/ns/activitystreams#Public"]
      yield* deliverFrom(will, { type: "Create", object: note(will, "named", mentioning) })
      const boosted = { ...note(will, "boosted", mentioning), published: new Date(0).toISOString() }
      yield* deliverFrom(will, { type: "Announce", object: boosted, to: everybody })
      const sql = yield* SqlClient.SqlClient
      const posts = yield* sql`SELECT html FROM statuses WHERE account_id = ${account.id} AND html <> '' ORDER BY html`
      assert.deepStrictEqual(posts, [{ html: "<p>boosted</p>" }, { html: "<p>named</p>" }])
      assert.isEmpty(yield* sql`SELECT FROM mentions WHERE account_id = ${emil.accountId} AND NOT silent`)
    }))

  it.effect("row 17: a fetched post is judged like a delivered one: files of rejected domains are removed", () =>
    Effect.gen(function*() {
      const { domain, url } = yield* OtherServer
      const [gil, vera] = [
        yield* newPerson("gil"),
        yield* there("vera", { icon: { type: "Image", url: `${url}/icon.png` } })
      ]
      const picture = { type: "Document", mediaType: "image/png", url: `${url}/a.png` }
      const fetched = (name: string) => note(vera, name, { attachment: [picture] })
      yield* serve(fetched("before"), fetched("after"))
      const sql = yield* SqlClient.SqlClient
      const { variables } = yield* TestServer
      const files = (name: string) =>
        Effect.map(
          Effect.andThen(
            resolved(gil.token, `${vera.id}/notes/${name}`),
            sql`SELECT FROM media_attachments m JOIN statuses s ON s.id = m.status_id
              WHERE s.uri = ${`${vera.id}/notes/${name}`}`
          ),
          ({ length }) => length
        )
      assert.strictEqual(yield* files("before"), 1)
      assert.strictEqual(
        (yield* cli(["domain", "block", domain, "--severity", "noop", "--reject-media"], variables)).code,
        0
      )
      yield* eventually(Effect.map(
        json(undefined, `/api/v1/accounts/lookup?acct=vera@${domain}`),
        ({ avatar }) => String(avatar).endsWith("missing.png") || undefined
      ))
      assert.strictEqual(yield* files("after"), 0)
      assert.lengthOf(yield* sql`SELECT FROM statuses WHERE uri = ${`${vera.id}/notes/after`}`, 1)
      yield* cli(["domain", "unblock", domain], variables)
    }))

  it.effect("row 17: a deleted actor without a key is ignored", () =>
    Effect.gen(function*() {
      const { documents } = yield* OtherServer
      const [dan, max] = [yield* newPerson("dan"), yield* there("max")]
      const me = yield* actorOf(dan)
      documents.set("/users/max", (_, response) => response.writeHead(410).end())
      const status = yield* json(dan, "/api/v1/statuses", { status: "hello" })
      const before = yield* traces
      for (const activity of everything(me, status, max)) assert.strictEqual(yield* send(max, activity), 401)
      yield* settled
      assert.deepStrictEqual(yield* traces, before)
      assert.strictEqual(yield* sendBody(max, "{}"), 401)
    }))
})
