import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { actorOf, there } from "../../http/activitypub/InboxCalls.ts"
import { deliverFrom, note, send, servers, settled } from "../../http/activitypub/Sending.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const count = (query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
  Effect.orDie(Effect.map(Effect.flatMap(SqlClient.SqlClient, query), (rows) => rows.length))
const mentioning = (me: string): Json => ({ cc: [me], tag: [{ type: "Mention", href: me }] })
layer(servers, { excludeTestServices: true })("a hostile server's activities", (it) => {
  it.effect("row 10: a post that is deleted while it arrives stays deleted, in either order", () =>
    Effect.gen(function*() {
      const [ada, zoe] = [yield* newPerson("ada"), yield* there("zoe")]
      const me = yield* actorOf(ada)
      yield* deliverFrom(zoe, { type: "Follow", object: me })
      const names = Array.from({ length: 60 }, (_, n) => `race${n}`)
      const create = (name: string) => send(zoe, { type: "Create", object: note(zoe, name, mentioning(me)) })
      const remove = (name: string) => send(zoe, { type: "Delete", object: `${zoe.id}/notes/${name}` })
      yield* Effect.all(
        names.flatMap((name, n) => n % 2 === 0 ? [create(name), remove(name)] : [remove(name), create(name)]),
        { concurrency: 20 }
      )
      yield* settled
      const left = count((sql) => sql`SELECT FROM statuses WHERE uri LIKE '%/notes/race%' AND deleted_at IS NULL`)
      assert.strictEqual(yield* left, 0)
      yield* Effect.all(names.map(create), { concurrency: 20 })
      yield* settled
      assert.strictEqual(yield* left, 0)
      assert.isEmpty(yield* json(ada, "/api/v1/notifications?types[]=mention"))
    }))

  it.effect("row 11: the name of a deleted account is not reused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const yan = yield* there("yan")
      yield* sql`INSERT INTO retired_usernames VALUES ('gone', '2026-01-01')`
      assert.strictEqual((yield* Effect.exit(newPerson("gone")))._tag, "Failure")
      assert.strictEqual((yield* Effect.exit(newPerson("GONE")))._tag, "Failure")
      const { baseUrl } = yield* TestServer
      assert.strictEqual(
        yield* send(yan, { type: "Follow", object: `${baseUrl}/users/gone` }, "/users/gone/inbox"),
        410
      )
      const outcome = yield* deliverFrom(yan, {
        type: "Create",
        object: note(yan, "to", mentioning(`${baseUrl}/users/gone`))
      })
      assert.match(outcome ?? "", /^ignored/)
    }))

  it.effect("row 18: a suspended account has no effect, on any path", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [bob, max] = [yield* newPerson("bob"), yield* there("max")]
      const me = yield* actorOf(bob)
      yield* deliverFrom(max, { type: "Follow", object: me })
      const [row] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE uri = ${max.id}`
      yield* json(bob, `/api/v1/accounts/${row?.id}/follow`, undefined, "POST")
      yield* deliverFrom(max, { type: "Accept", object: { type: "Follow", actor: me, object: max.id } })
      yield* deliverFrom(max, { type: "Create", object: note(max, "before", mentioning(me)) })
      // Accepted before, processed after: waiting activities are judged when they are processed.
      const waiting = JSON.stringify({
        "@context": "https://www.w3.org/ns/activitystreams",
        id: `${max.id}/late`,
        type: "Create",
        actor: max.id,
        object: note(max, "late", mentioning(me))
      })
      yield* sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at)
        VALUES (next_id(1), ${row?.id ?? 0n}, ${`${max.id}/late`}, ${waiting}, '2026-01-01', '2100-01-01')`
      yield* sql`UPDATE accounts SET suspended_at = '2026-01-01' WHERE id = ${row?.id ?? 0n}`
      yield* sql`UPDATE inbound_activities SET due_at = '2026-01-01' WHERE outcome IS NULL`
      const updated = new Date().toISOString()
      yield* deliverFrom(max, { type: "Update", object: note(max, "as-create", { ...mentioning(me), updated }) })
      yield* settled
      const posts = count((sql) => sql`SELECT FROM statuses WHERE uri LIKE ${`${max.id}/%`}`)
      assert.strictEqual(yield* posts, 1)
      assert.isEmpty(yield* json(bob, "/api/v1/timelines/home"))
      assert.isEmpty(yield* json(bob, "/api/v1/notifications"))
    }))
})
