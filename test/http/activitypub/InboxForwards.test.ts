import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { ask, json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { ended, follows, home, respond, serve, timesAsked } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const relays = "/api/v1/admin/relays"
const everybodyId = "https://www.w3.org/ns/activitystreams#Public"
const path = (id: unknown) => new URL(String(id)).pathname
const at = (minutes: number) => new Date(Date.now() + (minutes - 60) * 60_000).toISOString()
const count = (table: string) =>
  Effect.map(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`),
    ([row]) => row?.n
  )

layer(servers, { excludeTestServices: true })(
  "forwarded activities, and ids alone",
  (it) => {
    it.effect("row 6: a forwarded activity is trusted only as confirmed by its origin", () =>
      Effect.gen(function*() {
        const [anna, author, courier] = [yield* newPerson("anna"), yield* there("author"), yield* there("courier")]
        yield* deliverFrom(author, { type: "Like", object: "https://nowhere.test/1" })
        yield* follows(anna.accountId, author.id)
        const handOn = (type: string, object: unknown, actor = author.id) =>
          Effect.andThen(send(courier, { type, actor, object }), ended)
        const post = note(author, "handed", { published: at(0) })
        yield* serve(post)
        assert.match(yield* handOn("Create", { ...post, content: "<p>forged</p>" }), /^done/)
        yield* settled
        const [status] = yield* json(anna, "/api/v1/timelines/home")
        assert.deepInclude(status, { content: "<p>handed</p>", uri: post["id"] })

        const forged = { ...post, content: "<p>forged</p>", updated: at(30) }
        yield* handOn("Update", forged)
        assert.strictEqual((yield* json(anna, `/api/v1/statuses/${status.id}`)).content, "<p>handed</p>")
        yield* serve({ ...post, content: "<p>edited</p>", updated: at(20) })
        assert.match(yield* handOn("Update", forged), /^done/)
        assert.strictEqual((yield* json(anna, `/api/v1/statuses/${status.id}`)).content, "<p>edited</p>")

        assert.match(yield* handOn("Delete", post["id"]), /still there/)
        assert.deepStrictEqual<unknown>(yield* home(anna.token), [post["id"]])
        yield* serve({ id: post["id"], type: "Tombstone" })
        assert.match(yield* handOn("Delete", { id: post["id"], type: "Tombstone" }), /^done/)
        yield* settled
        assert.isEmpty(yield* home(anna.token))
        // Row 10: it does not come back either.
        yield* serve(post)
        assert.match(yield* handOn("Create", post), /^ignored/)
        assert.match((yield* deliverFrom(author, { type: "Create", object: post })) ?? "", /^ignored/)
        assert.isEmpty(yield* home(anna.token))
      }))

    it.effect("forwards that concern no local account, or of other types, cause no request", () =>
      Effect.gen(function*() {
        const [ben, author, courier] = [yield* newPerson("ben"), yield* there("unknown"), yield* there("courier2")]
        const me = yield* TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/ben`))
        const post = note(author, "nobody")
        yield* serve(post)
        const attempts = [
          { type: "Create", object: post },
          { type: "Update", object: post },
          { type: "Delete", object: post["id"] },
          { type: "Delete", object: author.id },
          { type: "Like", object: me },
          { type: "Follow", object: me },
          { type: "Announce", object: post["id"] },
          { type: "Create", object: { ...post, id: "https://elsewhere.test/1" } }
        ]
        for (const activity of attempts) {
          assert.match(
            (yield* deliverFrom(courier, { actor: author.id, ...activity })) ?? "",
            /^ignored/,
            activity.type
          )
        }
        assert.strictEqual(yield* timesAsked(post["id"]), 0)
        assert.strictEqual((yield* json(ben, "/api/v1/accounts/verify_credentials")).followers_count, 0)
      }))

    it.effect("a restricted post is deleted if its origin says so, but not if its origin does not respond", () =>
      Effect.gen(function*() {
        const [cleo, author, courier] = [yield* newPerson("cleo"), yield* there("quiet"), yield* there("courier3")]
        yield* acceptPrivateMentions(cleo)
        const me = yield* TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/cleo`))
        const secret = note(author, "secret", { to: [me], cc: [], tag: [{ type: "Mention", href: me }] })
        yield* deliverFrom(author, { type: "Create", object: secret })
        const deleted = { type: "Delete", actor: author.id, object: secret["id"] }
        const notifications = Effect.map(json(cleo, "/api/v1/notifications"), (all) => all.length)
        yield* send(courier, deleted)
        assert.match(yield* ended, /404/)
        assert.strictEqual(yield* notifications, 1)
        yield* respond(path(secret["id"]), (_, response) => response.writeHead(410).end())
        yield* send(courier, deleted)
        assert.match(yield* ended, /^done/)
        assert.strictEqual(yield* notifications, 0)
      }))

    it.effect("S-009: an activity is undone by its id alone, and only by its actor", () =>
      Effect.gen(function*() {
        const [dora, yan, thief] = [yield* newPerson("dora"), yield* there("yan"), yield* there("thief")]
        const me = yield* TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/dora`))
        const status = yield* json(dora, "/api/v1/statuses", { status: "hello" })
        const everybody = { to: ["https://www.w3.org/ns/activitystreams#Public"] }
        const activities = [
          { id: `${yan.id}/1`, type: "Follow", object: me },
          { id: `${yan.id}/2`, type: "Like", object: status.uri },
          { id: `${yan.id}/3`, type: "Announce", object: status.uri, ...everybody },
          { id: `${yan.id}/4`, type: "Block", object: me }
        ]
        const figures = Effect.gen(function*() {
          const shown = yield* json(dora, `/api/v1/statuses/${status.id}`)
          const mine = yield* json(dora, "/api/v1/accounts/verify_credentials")
          return [mine.followers_count, shown.favourites_count, shown.reblogs_count, yield* count("blocks")]
        })
        for (const activity of activities.slice(0, 3)) assert.strictEqual(yield* deliverFrom(yan, activity), "done")
        assert.deepStrictEqual(yield* figures, [1, 1, 1, 0])
        for (const { id } of activities) {
          assert.match((yield* deliverFrom(thief, { type: "Undo", object: id })) ?? "", /^ignored/)
        }
        assert.deepStrictEqual(yield* figures, [1, 1, 1, 0])
        for (const { id } of activities.slice(0, 3)) {
          assert.strictEqual(yield* deliverFrom(yan, { type: "Undo", object: id }), "done")
        }
        assert.deepStrictEqual(yield* figures, [0, 0, 0, 0])
        assert.strictEqual(yield* deliverFrom(yan, activities[3] ?? {}), "done")
        assert.deepStrictEqual(yield* figures, [0, 0, 0, 1])
        assert.strictEqual(yield* deliverFrom(yan, { type: "Undo", object: `${yan.id}/4` }), "done")
        assert.deepStrictEqual(yield* figures, [0, 0, 0, 0])
      }))

    it.effect("row 10, F17: an activity undone before it arrives has no effect, whether embedded or named by id", () =>
      Effect.gen(function*() {
        const [emil, xena] = [yield* newPerson("emil"), yield* there("xena")]
        const status = yield* json(emil, "/api/v1/statuses", { status: "hello" })
        const everybody = { to: ["https://www.w3.org/ns/activitystreams#Public"] }
        const like = (n: number) => ({ id: `${xena.id}/likes/${n}`, type: "Like", object: status.uri })
        const boost = (n: number) => ({
          id: `${xena.id}/boosts/${n}`,
          type: "Announce",
          object: status.uri,
          ...everybody
        })
        for (const object of [like(1), like(2).id, boost(1), boost(2).id]) {
          yield* deliverFrom(xena, { type: "Undo", object })
        }
        for (const late of [like(1), like(2), boost(1), boost(2)]) {
          assert.match((yield* deliverFrom(xena, late)) ?? "", /undone/, late.id)
        }
        assert.deepInclude(yield* json(emil, `/api/v1/statuses/${status.id}`), {
          favourites_count: 0,
          reblogs_count: 0
        })
        // Later activities count.
        for (const fresh of [like(3), boost(3)]) assert.strictEqual(yield* deliverFrom(xena, fresh), "done")
      }))

    it.effect("row 6, row 22: a relayed post is fetched from its origin, and the embedded copy is ignored, while staff keep the relay", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { createPerson } = yield* TestServer
        const { actor, documents, url } = yield* OtherServer
        const staff = yield* staffMember("handing", ["manageFederation"])
        const reader = yield* createPerson("reader")
        const relay = yield* actor("third", { type: "Application", inbox: `${url}/third/inbox`, endpoints: {} })
        const [stranger, mallory] = [yield* actor("outsider"), yield* actor("mallory2")]
        const { body: created } = yield* ask(staff, "POST", relays, { actor_url: relay.id })
        const [asked] = yield* sql<{ followUri: string }>`SELECT follow_uri FROM relays WHERE id = ${
          BigInt(created.id)
        }`
        yield* deliverFrom(relay, { type: "Accept", object: asked?.followUri })
        const served = (name: string, more: Json = {}) => {
          const post = note(stranger, name, more)
          documents.set(`/users/outsider/notes/${name}`, {
            "@context": "https://www.w3.org/ns/activitystreams",
            ...post
          })
          return post
        }
        const handedOn = Effect.fnUntraced(function*(by: typeof relay, activity: Json) {
          yield* deliverFrom(by, activity)
          const [row] = yield* eventually(
            sql<{ outcome: string | null }>`SELECT outcome FROM inbound_activities ORDER BY id DESC LIMIT 1`,
            ([last]) => last !== undefined && last.outcome !== null
          )
          return row?.outcome ?? ""
        })
        const announce = (object: unknown) => ({
          type: "Announce",
          object,
          to: [`${relay.id}/followers`],
          cc: [everybodyId]
        })
        const create = (object: unknown) => ({ type: "Create", actor: stranger.id, object, to: [everybodyId] })
        const forged = { content: "<p>forged</p>", attributedTo: stranger.id }
        const timeline = Effect.map(
          ask(reader, "GET", "/api/v1/timelines/public?remote=true"),
          ({ body }) =>
            body.filter(({ uri }: { uri: string }) => uri.startsWith(stranger.id)).map((one: Json) => one["content"])
        )
        // LitePub relays name the post or embed a copy; others forward the author's activity, signed by themselves.
        assert.strictEqual(yield* handedOn(relay, announce({ ...served("one"), ...forged })), "done")
        yield* handedOn(relay, create({ ...served("two"), ...forged }))
        assert.strictEqual(yield* handedOn(relay, announce(served("three")["id"])), "done")
        assert.deepStrictEqual(yield* timeline, ["<p>three</p>", "<p>two</p>", "<p>one</p>"])
        // Boosts of others' and restricted posts are ignored.
        assert.match(yield* handedOn(mallory, announce(served("four")["id"])), /ignored/)
        assert.match(yield* handedOn(mallory, create(served("five"))), /ignored/)
        assert.match(
          yield* handedOn(relay, announce(served("six", { to: [`${stranger.id}/followers`], cc: [] })["id"])),
          /ignored/
        )
        assert.match(yield* handedOn(relay, announce(`${url}/users/outsider/notes/nothing`)), /ignored/)
        // Edits and deletions are also verified at their origin.
        const edited = served("one", { content: "<p>edited</p>", updated: new Date().toISOString() })
        yield* handedOn(relay, {
          type: "Update",
          actor: stranger.id,
          object: { ...edited, ...forged },
          to: [everybodyId]
        })
        assert.include(yield* timeline, "<p>edited</p>")
        yield* handedOn(relay, { type: "Delete", actor: stranger.id, object: edited["id"], to: [everybodyId] })
        assert.include(yield* timeline, "<p>edited</p>")
        const boosts =
          yield* sql`SELECT FROM statuses WHERE account_id = (SELECT id FROM accounts WHERE uri = ${relay.id})`
        assert.lengthOf(boosts, 0)

        yield* ask(staff, "DELETE", `${relays}/${created.id}`)
        assert.match(yield* handedOn(relay, announce(served("seven")["id"])), /ignored/)
        assert.match(yield* handedOn(relay, create(served("eight"))), /ignored/)
        assert.lengthOf(yield* timeline, 3)
      }))
  }
)
