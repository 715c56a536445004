import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import { AdminRelay } from "../../../../src/http/staff/wire/AdminFederation.ts"
import type { Json } from "../../../services/federation/Peer.ts"
import { ask } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"
import { deliverFrom, note, OtherServer, servers } from "../../activitypub/Sending.ts"

const path = "/api/v1/admin/relays"
const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Records the bodies that an inbox receives. */
const collected = Effect.fnUntraced(function*(where: string) {
  const { documents } = yield* OtherServer
  const bodies: Array<Json> = []
  documents.set(where, (request: IncomingMessage, response: ServerResponse) => {
    let text = ""
    request.on("data", (chunk) => {
      text += String(chunk)
    })
    request.on("end", () => {
      bodies.push(JSON.parse(text))
      response.writeHead(202).end()
    })
  })
  const next = (type: string) =>
    Effect.map(
      eventually(
        Effect.sync(() => bodies.find((body) => body["type"] === type)),
        (found) => found !== undefined
      ),
      (found) => {
        bodies.splice(bodies.indexOf(found!), 1)
        return found!
      }
    )
  return { bodies, next }
})

layer(servers, { excludeTestServices: true })("relays", (it) => {
  it.effect("row 22: a relay has an effect once it has accepted our follow, and not before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, createPerson } = yield* TestServer
      const { actor, documents, url } = yield* OtherServer
      const staff = yield* staffMember("relayer", ["manageFederation"])
      const inbox = yield* collected("/relay/inbox")
      const relay = yield* actor("relay", { type: "Service", inbox: `${url}/relay/inbox`, endpoints: {} })
      const mallory = yield* actor("mallory")
      const author = yield* createPerson("author")
      const { body: created } = yield* ask(staff, "POST", path, { inbox_url: `${url}/relay/inbox` })
      yield* Schema.decodeUnknownEffect(AdminRelay)(created, { onExcessProperty: "error" })
      assert.deepInclude(created, { kind: "mastodon", state: "pending" })
      const follow = yield* inbox.next("Follow")
      assert.deepInclude(follow, { actor: `${baseUrl}/actor`, object: everybody })
      const state = Effect.map(ask(staff, "GET", `${path}/${created.id}`), ({ body }) => body.state)
      // Another account of the host with the right id, and the relay with a wrong id.
      yield* deliverFrom(mallory, {
        type: "Accept",
        object: { type: "Follow", id: follow["id"], actor: `${baseUrl}/actor` }
      })
      yield* deliverFrom(mallory, { type: "Accept", object: follow["id"] })
      yield* deliverFrom(relay, { type: "Accept", object: { type: "Follow", id: `${baseUrl}/actor#follows/1` } })
      assert.strictEqual(yield* state, "pending")
      const { body: early } = yield* ask(author, "POST", "/api/v1/statuses", { status: "too early" })
      // A relay that is not accepted has no effect.
      const stranger = yield* actor("stranger")
      const posted = note(stranger, "handed-on")
      documents.set("/users/stranger/notes/handed-on", {
        "@context": "https://www.w3.org/ns/activitystreams",
        ...posted
      })
      const announce = { type: "Announce", object: posted["id"], to: [`${relay.id}/followers`], cc: [everybody] }
      assert.match(String(yield* deliverFrom(relay, announce)), /ignored/)

      yield* deliverFrom(relay, {
        type: "Accept",
        object: { type: "Follow", id: follow["id"], actor: `${baseUrl}/actor` }
      })
      assert.strictEqual(yield* state, "accepted")
      const { body: post } = yield* ask(author, "POST", "/api/v1/statuses", { status: "for everybody" })
      const create = yield* inbox.next("Create")
      assert.strictEqual((create["object"] as Json)["id"], post.uri)
      assert.notInclude(JSON.stringify(inbox.bodies), early.uri)
      for (const visibility of ["unlisted", "private", "direct"]) {
        yield* ask(author, "POST", "/api/v1/statuses", { status: visibility, visibility })
      }
      yield* ask(author, "DELETE", `/api/v1/statuses/${post.id}`)
      assert.strictEqual(((yield* inbox.next("Delete"))["object"] as Json)["id"] ?? "", post.uri)
      assert.deepStrictEqual(inbox.bodies, [])

      yield* deliverFrom(relay, announce)
      yield* eventually(
        sql<{ outcome: string | null }>`SELECT outcome FROM inbound_activities ORDER BY id DESC LIMIT 1`,
        ([row]) => row?.outcome === "done"
      )
      const stored = yield* sql<{ uri: string; boost: boolean }>`SELECT s.uri, s.reblog_of_id IS NOT NULL AS boost
        FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE NOT s.local`
      assert.deepStrictEqual(stored, [{ uri: String(posted["id"]), boost: false }])
      const { body: timeline } = yield* ask(author, "GET", "/api/v1/timelines/public?remote=true")
      assert.deepStrictEqual(timeline.map(({ uri }: { uri: string }) => uri), [posted["id"]])

      assert.strictEqual((yield* ask(staff, "POST", `${path}/${created.id}/disable`)).body.state, "idle")
      assert.deepStrictEqual(((yield* inbox.next("Undo"))["object"] as Json)["id"], follow["id"])
      assert.strictEqual((yield* ask(staff, "POST", `${path}/${created.id}/disable`)).body.state, "idle")
      yield* deliverFrom(relay, { type: "Accept", object: follow["id"] })
      assert.strictEqual(yield* state, "idle")
      assert.strictEqual((yield* ask(staff, "POST", `${path}/${created.id}/enable`)).body.state, "pending")
      const again = yield* inbox.next("Follow")
      assert.notStrictEqual(again["id"], follow["id"])
      // A response to the earlier follow is late.
      yield* deliverFrom(relay, { type: "Accept", object: follow["id"] })
      assert.strictEqual(yield* state, "pending")
      yield* deliverFrom(relay, { type: "Reject", object: again["id"] })
      assert.strictEqual(yield* state, "rejected")
      assert.deepStrictEqual((yield* ask(staff, "DELETE", `${path}/${created.id}`)).body, {})
      assert.strictEqual((yield* ask(staff, "GET", `${path}/${created.id}`)).status, 404)
      assert.deepStrictEqual((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
        "relay destroy",
        "relay enable",
        "relay disable",
        "relay create"
      ])
    }))

  it.effect("a LitePub relay is an actor, which follows us back", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { actor, url } = yield* OtherServer
      const staff = yield* staffMember("litepub", ["manageFederation"])
      const inbox = yield* collected("/lite/inbox")
      const relay = yield* actor("lite", { type: "Application", inbox: `${url}/lite/inbox`, endpoints: {} })
      const { body: created } = yield* ask(staff, "POST", path, { actor_url: relay.id })
      assert.deepInclude(created, { kind: "litepub", state: "pending", inbox_url: `${url}/lite/inbox` })
      const follow = yield* inbox.next("Follow")
      assert.strictEqual(follow["object"], relay.id)
      assert.strictEqual(yield* deliverFrom(relay, { type: "Accept", object: follow }), "done")
      assert.strictEqual((yield* ask(staff, "GET", path)).body[0].state, "accepted")
      assert.strictEqual(
        yield* deliverFrom(relay, { type: "Follow", id: `${relay.id}/follows/1`, object: `${baseUrl}/actor` }),
        "done"
      )
      assert.strictEqual(((yield* inbox.next("Accept"))["object"] as Json)["id"], `${relay.id}/follows/1`)
      const stranger = yield* actor("nobody")
      assert.match(String(yield* deliverFrom(stranger, { type: "Follow", object: `${baseUrl}/actor` })), /ignored/)
      const taken = yield* ask(staff, "POST", path, { inbox_url: `${url}/lite/inbox` })
      assert.deepStrictEqual(taken.body, { error: "Validation failed: Inbox url has already been taken" })
      for (
        const [wish, text] of [
          [{}, "Inbox url can't be blank"],
          [{ inbox_url: "ftp://x.example/inbox" }, "Inbox url is invalid"],
          [{ actor_url: `${url}/nowhere` }, "Actor url is invalid"]
        ] as const
      ) {
        const { body, status } = yield* ask(staff, "POST", path, wish)
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${text}`])
      }
      yield* ask(staff, "DELETE", `${path}/${created.id}`)
      assert.deepInclude((yield* inbox.next("Undo"))["object"], { type: "Follow", object: relay.id, id: follow["id"] })
    }))

  it.effect("deliveries to a server are stopped, restarted and cleared, and staff can keep notes about it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      const staff = yield* staffMember("watcher", ["manageFederation"])
      const at = `/api/v1/admin/instances/${encodeURIComponent(domain)}`
      yield* sql`UPDATE hosts SET failed_days = ARRAY['2026-11-01'::date], last_error = 'it is away' WHERE host = ${domain}`
      const { body: failing } = yield* ask(staff, "GET", "/api/v1/admin/instances?failing=true")
      assert.deepStrictEqual(failing.map((one: Json) => [one["domain"], one["failed_days"], one["last_error"]]), [
        [domain, 1, "it is away"]
      ])
      const { body: stopped } = yield* ask(staff, "POST", `${at}/stop_delivery`)
      assert.deepInclude(stopped, { domain, stopped_by: "operator" })
      assert.deepInclude((yield* ask(staff, "POST", `${at}/clear_delivery_errors`)).body, {
        stopped_by: "operator",
        failed_days: 0,
        last_error: null
      })
      assert.deepInclude((yield* ask(staff, "POST", `${at}/restart_delivery`)).body, { stopped_by: null })
      assert.deepStrictEqual((yield* ask(staff, "GET", "/api/v1/admin/instances?failing=true")).body, [])
      assert.strictEqual((yield* ask(staff, "GET", "/api/v1/admin/instances/unknown.example")).status, 404)
      const { body: first } = yield* ask(staff, "POST", `${at}/notes`, { content: " quiet people " })
      assert.deepInclude(first, { domain, account_id: String(staff.accountId), content: "quiet people" })
      const blank = yield* ask(staff, "POST", `${at}/notes`, { content: " " })
      assert.deepStrictEqual(blank.body, { error: "Validation failed: Content can't be blank" })
      assert.deepStrictEqual((yield* ask(staff, "GET", `${at}/notes`)).body, [first])
      const elsewhere = yield* ask(staff, "DELETE", `/api/v1/admin/instances/other.example/notes/${first.id}`)
      assert.strictEqual(elsewhere.status, 404)
      assert.deepStrictEqual((yield* ask(staff, "DELETE", `${at}/notes/${first.id}`)).body, {})
      assert.deepStrictEqual((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
        "instance_note destroy",
        "instance_note create",
        "delivery restart",
        "delivery clear",
        "delivery stop"
      ])
    }))
})
