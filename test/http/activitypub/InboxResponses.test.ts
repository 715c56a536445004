import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { activityBytesMax } from "../../../src/http/activitypub/Inboxes.ts"
import { inboundBackoff } from "../../../src/services/federation/inbox/InboundActivities.ts"
import { newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers, settled } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const postInbox = (path: string, options: RequestInit) =>
  TestServer.use(({ fetch }) => fetch(path, { method: "POST", ...options })).pipe(
    Effect.flatMap((response) =>
      Effect.promise(async () => ({ status: response.status, text: await response.text(), headers: response.headers }))
    )
  )
const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ count: number }>`SELECT count(*)::int AS count FROM inbound_activities`
).pipe(Effect.map(([row]) => row?.count))

layer(servers, { excludeTestServices: true })("responses of the inbox", (it) => {
  it.effect("row 39 row 40: more than a megabyte is refused before anything is read", () =>
    Effect.gen(function*() {
      const large = "x".repeat(activityBytesMax + 1)
      assert.strictEqual((yield* postInbox("/inbox", { body: large })).status, 413)
      const endless = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536))
      })
      const streamed: RequestInit & { duplex: "half" } = { body: endless, duplex: "half" }
      assert.strictEqual((yield* postInbox("/inbox", streamed)).status, 413)
    }))

  it.effect("row 3: requests without a valid signature are refused and leave no data", () =>
    Effect.gen(function*() {
      const [anna, zed] = [yield* newPerson("anna"), yield* there("zed")]
      const before = yield* rows
      const body = JSON.stringify({ "@context": "https://www.w3.org/ns/activitystreams", type: "Like", actor: zed.id })
      const unsigned = yield* postInbox("/inbox", { body })
      assert.strictEqual(unsigned.status, 401)
      assert.deepStrictEqual(JSON.parse(unsigned.text), { error: "Request not signed" })
      assert.strictEqual((yield* postInbox("/inbox", { body, headers: { signature: "nonsense" } })).status, 400)
      const other = yield* there("other")
      assert.strictEqual(
        yield* send({ ...zed, privatePem: other.privatePem }, { type: "Like", object: anna.username }),
        401
      )
      assert.strictEqual(yield* rows, before)
    }))

  it.effect("an invalid activity is 400, an unknown inbox 404, a deleted one 410", () =>
    Effect.gen(function*() {
      const yves = yield* there("yves")
      for (
        const text of [
          "",
          "{",
          "[]",
          "7",
          "{}",
          "{\"@context\":\"https://example.org\"}",
          "[".repeat(1_000) + "]".repeat(1_000)
        ]
      ) {
        assert.strictEqual(yield* sendBody(yves, text), 400, text.slice(0, 20))
      }
      assert.strictEqual(yield* send(yves, { type: "Like" }, "/users/nobody/inbox"), 404)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO retired_usernames (username, retired_at) VALUES ('erik', ${new Date()})`
      assert.strictEqual(yield* send(yves, { type: "Like" }, "/users/erik/inbox"), 410)
    }))

  it.effect("a deletion of an unknown account is accepted and dropped; an unavailable key asks for a retry", () =>
    Effect.gen(function*() {
      const peer = yield* OtherServer
      const gone = yield* there("gone")
      peer.documents.set("/users/gone", (_, response) => response.writeHead(410).end())
      const before = yield* rows
      assert.strictEqual(yield* send(gone, { type: "Delete", object: gone.id }), 202)
      assert.strictEqual(yield* send(gone, { type: "Like", object: gone.id }), 401)
      assert.strictEqual(yield* rows, before)
      const away = yield* there("away")
      peer.documents.set("/users/away", (_, response) => response.writeHead(503).end())
      assert.strictEqual(yield* send(away, { type: "Like" }), 503)
    }))

  it.effect("row 17 row 18: a suspended account's activities are dropped, except for undoing", () =>
    Effect.gen(function*() {
      const [ben, xeno, server] = [yield* newPerson("ben"), yield* there("xeno"), yield* TestServer]
      const me = `${server.baseUrl}/users/${ben.username}`
      const follow = `${xeno.id}/first`
      assert.strictEqual(yield* deliverFrom(xeno, { id: follow, type: "Follow", object: me }), "done")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE accounts SET suspended_at = ${new Date()} WHERE uri = ${xeno.id}`
      const mention = { cc: [me], tag: [{ type: "Mention", href: me }] }
      for (
        const activity of [
          { type: "Follow", object: me },
          { type: "Like", object: me },
          { type: "Announce", object: me },
          { type: "Create", object: note(xeno, "late", mention) },
          { type: "Block", object: me },
          { type: "Accept", object: { type: "Follow", actor: me, object: xeno.id } }
        ]
      ) {
        // Dropped on arrival if the suspension is already known there, otherwise by the actor.
        yield* deliverFrom(xeno, activity)
      }
      const outcomes = yield* sql<{ outcome: string }>`SELECT DISTINCT i.outcome FROM inbound_activities i
        JOIN accounts a ON a.id = i.account_id WHERE a.uri = ${xeno.id} AND i.uri <> ${follow}`
      for (const { outcome } of outcomes) assert.strictEqual(outcome, "dropped: its sender is suspended")
      assert.strictEqual(
        yield* deliverFrom(xeno, { type: "Update", object: note(xeno, "late", mention) }),
        "ignored: not a newer post of the sender"
      )
      assert.strictEqual(yield* deliverFrom(xeno, { type: "Undo", object: { type: "Follow", object: me } }), "done")
    }))

  it.effect("I8 F20: an activity that always fails is set aside for the operator, and does not block others", () =>
    Effect.gen(function*() {
      const [cleo, wolf, server] = [yield* newPerson("cleo"), yield* there("wolf"), yield* TestServer]
      const me = `${server.baseUrl}/users/${cleo.username}`
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE statuses ADD CONSTRAINT poison CHECK (html <> '<p>poison</p>')`
      const mention = { cc: [me], tag: [{ type: "Mention", href: me }] }
      yield* send(wolf, { type: "Create", object: note(wolf, "poison", mention) })
      yield* send(wolf, { type: "Create", object: note(wolf, "fine", mention) })
      assert.strictEqual(yield* settled, "done")
      const waiting = sql<{ tries: number; outcome: string | null; document: string | null }>`
        SELECT tries, outcome, document FROM inbound_activities WHERE document LIKE '%poison%'`
      for (let tries = 1; tries < inboundBackoff.triesMax; tries++) {
        const [row] = yield* waiting
        assert.deepInclude(row, { tries, outcome: null })
        yield* sql`UPDATE inbound_activities SET due_at = ${new Date()} WHERE outcome IS NULL`
        yield* send(wolf, { type: "Like", object: me })
        yield* eventually(waiting, ([row]) => row?.tries === tries + 1)
      }
      const [row] = yield* waiting
      assert.match(row?.outcome ?? "", /^set aside: /)
      assert.include(row?.document, "poison")
      const posts = yield* sql`SELECT FROM statuses WHERE NOT local AND html = '<p>fine</p>'`
      assert.strictEqual(posts.length, 1)
      // The operator sees it, and may have it retried after the cause is fixed.
      const dead = yield* cli(["federation", "dead"], server.variables)
      assert.match(dead.out, /^\d+\t\S+\t\S+\/users\/wolf\t\S+\t.*constraint "poison"/ms)
      const doctor = yield* cli(["doctor"], server.variables)
      assert.match(doctor.out, /^FAIL {3}Received activities: 1 failed on every attempt/m)
      const metric = Effect.andThen(server.fetch("/metrics"), (reply) => Effect.promise(() => reply.text()))
      yield* eventually(metric, (text) => /^murmuration_work_failed\{(?=[^}]*kind="inbound")[^}]*\} 1$/m.test(text))
      yield* sql`ALTER TABLE statuses DROP CONSTRAINT poison`
      const id = dead.out.split("\t")[0] ?? ""
      assert.strictEqual((yield* cli(["federation", "dead", "--retry", id], server.variables)).code, 0)
      yield* eventually(sql`SELECT FROM statuses WHERE html = '<p>poison</p>'`, (rows) => rows.length === 1)
      assert.include((yield* cli(["federation", "dead"], server.variables)).out, "There are no failed activities.")
      assert.strictEqual((yield* cli(["federation", "dead", "--retry", id], server.variables)).code, 1)
    }))
})
