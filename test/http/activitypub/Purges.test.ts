import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { postsMax } from "../../../src/services/federation/purge/PurgedPosts.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { actorOf, found, mentioning, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, send, servers, settled } from "./Sending.ts"

const idOf = (by: RemotePerson) =>
  SqlClient.SqlClient.use((sql) => sql<{ id: bigint }>`SELECT id FROM accounts WHERE uri = ${by.id}`).pipe(
    Effect.map(([row]) => row?.id)
  )
/** Waits until a query returns no row. */
const until = (query: Effect.Effect<ReadonlyArray<unknown>, unknown, SqlClient.SqlClient>) =>
  eventually(Effect.orDie(query), (rows) => rows.length === 0)
const gone = (id: bigint | undefined) =>
  SqlClient.SqlClient.use((sql) => until(sql`SELECT FROM accounts WHERE id = ${id ?? 0n}`))
const remove = (by: RemotePerson) => deliverFrom(by, { type: "Delete", object: by.id })
const own = (by: Parameters<typeof json>[0]) => json(by, "/api/v1/accounts/verify_credentials")

layer(servers, { excludeTestServices: true })("deleted accounts of other servers", (it) => {
  it.effect("S-009, I12: deleting an account deletes its data, and counters match the rest", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, zoe] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* there("zoe")]
      const me = yield* actorOf(anna)
      const status = yield* publish(anna, "Which?", { poll: { options: ["a", "b"], expires_in: 3_600 } })
      const account = yield* found(anna, "zoe")
      for (const by of [anna, ben]) yield* json(by, `/api/v1/accounts/${account.id}/follow`, {})
      for (const by of [anna, ben]) {
        yield* deliverFrom(zoe, {
          type: "Accept",
          object: { type: "Follow", actor: yield* actorOf(by), object: zoe.id }
        })
      }
      yield* deliverFrom(zoe, { type: "Follow", object: me })
      yield* deliverFrom(zoe, { type: "Like", object: status.uri })
      yield* deliverFrom(zoe, { type: "Announce", object: status.uri, to: ["as:Public"] })
      yield* deliverFrom(zoe, {
        type: "Create",
        object: { id: `${zoe.id}/v`, type: "Note", attributedTo: zoe.id, inReplyTo: status.uri, name: "a" }
      })
      yield* deliverFrom(zoe, {
        type: "Create",
        object: note(zoe, "reply", { ...mentioning(me), inReplyTo: status.uri })
      })
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "secret", { ...mentioning(me), to: [me], cc: [] }) })
      const [reply] = (yield* json(anna, `/api/v1/statuses/${status.id}/context`)).descendants
      yield* json(ben, `/api/v1/statuses/${reply.id}/reblog`, {})
      assert.strictEqual((yield* json(anna, "/api/v1/conversations")).length, 1)
      const id = yield* idOf(zoe)
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, local, created_at)
        SELECT n, ${id}, 'old', 'public', n, false, ${new Date()} FROM generate_series(1, ${2 * postsMax + 50}) n`
      assert.strictEqual(yield* remove(zoe), "done")
      yield* gone(id)
      const shown = yield* json(anna, `/api/v1/statuses/${status.id}`)
      assert.deepInclude(shown, { favourites_count: 0, reblogs_count: 0, replies_count: 0 })
      assert.deepInclude(shown.poll, { voters_count: 0, votes_count: 0 })
      assert.deepInclude(yield* own(anna), { followers_count: 0, following_count: 0 })
      assert.deepInclude(yield* own(ben), { statuses_count: 0, following_count: 0 })
      assert.deepStrictEqual([yield* told(anna), yield* json(anna, "/api/v1/conversations")], [[], []])
      assert.isEmpty(yield* sql`SELECT FROM statuses WHERE account_id <> ${anna.accountId}`)
      for (const table of ["follows", "favourites", "poll_votes", "notifications", "remote_keys"]) {
        assert.isEmpty(yield* sql`SELECT FROM ${sql(table)}`, table)
      }
      assert.strictEqual((yield* json(anna, `/api/v1/accounts/${account.id}`)).error, "Record not found")
    }))

  it.effect("row 11: a deleted account cannot return with its old key; a new key is a new account", () =>
    Effect.gen(function*() {
      const [cleo, yan] = [yield* newPerson("cleo"), yield* there("yan")]
      const me = yield* actorOf(cleo)
      yield* deliverFrom(yan, { type: "Follow", object: me })
      const before = yield* idOf(yan)
      yield* remove(yan)
      yield* gone(before)
      const sql = yield* SqlClient.SqlClient
      assert.isUndefined(yield* found(cleo, "yan"))
      assert.isEmpty(yield* sql`SELECT FROM accounts WHERE uri = ${yan.id}`)
      const another = yield* there("yan")
      assert.strictEqual(another.id, yan.id)
      const account = yield* found(cleo, "yan")
      assert.notStrictEqual(account.id, String(before))
      assert.strictEqual(account.followers_count, 0)
      assert.strictEqual(yield* send(yan, { type: "Follow", object: me }), 401)
      assert.strictEqual(yield* deliverFrom(another, { type: "Follow", object: me }), "done")
    }))

  it.effect("row 11: a deleted local account cannot be followed or mentioned, and its reported posts stay hidden", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [hal, ida, tom] = [yield* newPerson("hal"), yield* newPerson("ida"), yield* there("tom")]
      const me = yield* actorOf(hal)
      const [bad] = [yield* publish(hal, "bad"), yield* publish(hal, "other")]
      yield* json(ida, "/api/v1/reports", { account_id: String(hal.accountId), status_ids: [bad.id] })
      yield* sql`INSERT INTO account_intents (id, account_id, kind, details, created_at)
        VALUES (1, ${hal.accountId}, 'DeleteAccount', '{"_tag": "DeleteAccount"}', ${new Date()})`
      yield* until(sql`SELECT FROM statuses WHERE account_id = ${hal.accountId} AND deleted_at IS NULL`)
      assert.strictEqual(yield* deliverFrom(tom, { type: "Follow", object: me }), "ignored: no local recipient")
      const outcome = yield* deliverFrom(tom, { type: "Create", object: note(tom, "to", mentioning(me)) })
      assert.strictEqual(outcome, "ignored: irrelevant to local accounts")
      const storedPosts = sql<{ html: string }>`SELECT html FROM statuses WHERE account_id = ${hal.accountId}`
      assert.deepStrictEqual((yield* storedPosts).map(({ html }) => html), ["<p>bad</p>"])
      assert.strictEqual((yield* json(ida, `/api/v1/statuses/${bad.id}`)).error, "Record not found")
      yield* sql`UPDATE reports SET action_taken_at = ${new Date()}`
      yield* sql`UPDATE agenda SET due_at = ${new Date()} WHERE kind = 'purge'`
      yield* until(storedPosts)
      yield* until(sql`SELECT FROM agenda WHERE kind = 'purge'`)
      assert.isNotEmpty(yield* sql`SELECT FROM accounts WHERE id = ${hal.accountId}`)
    }))

  it.effect("S-066: posts under review remain for moderators, hidden, and are deleted afterwards", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [dora, xeno] = [yield* newPerson("dora"), yield* there("xeno")]
      const me = yield* actorOf(dora)
      for (const name of ["bad", "other"]) {
        yield* deliverFrom(xeno, { type: "Create", object: note(xeno, name, mentioning(me)) })
      }
      const account = yield* found(dora, "xeno")
      const [, { status }] = yield* json(dora, "/api/v1/notifications")
      yield* json(dora, "/api/v1/reports", { account_id: account.id, status_ids: [status.id] })
      yield* remove(xeno)
      yield* until(sql`SELECT FROM statuses WHERE account_id = ${account.id} AND html LIKE '%other%'`)
      yield* until(sql`SELECT FROM agenda WHERE kind = 'purge' AND due_at <= ${new Date()}`)
      const left = yield* sql<{ html: string }>`SELECT html FROM statuses WHERE account_id = ${account.id}`
      assert.deepStrictEqual(left.map(({ html }) => html), ["<p>bad</p>"])
      assert.strictEqual((yield* json(dora, `/api/v1/statuses/${status.id}`)).error, "Record not found")
      yield* sql`UPDATE reports SET action_taken_at = ${new Date()}`
      yield* sql`UPDATE agenda SET due_at = ${new Date()} WHERE kind = 'purge'`
      yield* gone(BigInt(account.id))
    }))

  it.effect("an account whose document returns 410 is deleted", () =>
    Effect.gen(function*() {
      const [emil, will] = [yield* newPerson("emil"), yield* there("will")]
      yield* deliverFrom(will, { type: "Follow", object: yield* actorOf(emil) })
      const id = yield* idOf(will)
      const peer = yield* OtherServer
      peer.documents.set("/users/will", (_, response) => response.writeHead(410).end())
      yield* send(will, { type: "Update", object: will.id })
      yield* gone(id)
      assert.strictEqual((yield* own(emil)).followers_count, 0)
    }))

  it.effect("F20: an object that cannot be fetched now is fetched later, for any requester", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [fay, vera] = [yield* newPerson("fay"), yield* there("vera")]
      yield* found(fay, "vera")
      const peer = yield* OtherServer
      const document = peer.documents.get("/users/vera")
      peer.documents.set("/users/vera", (_, response) => response.writeHead(503).end())
      assert.strictEqual(yield* deliverFrom(vera, { type: "Update", object: vera.id }), "done")
      yield* eventually(sql`SELECT FROM errands WHERE tries = 1`, (rows) => rows.length === 1)
      peer.documents.set("/users/vera", { ...(document as object), name: "Vera now" })
      // As after a node that was killed in the middle.
      yield* sql`UPDATE errands SET due_at = ${new Date()}`
      yield* until(sql`SELECT FROM errands`)
      assert.strictEqual((yield* found(fay, "vera")).display_name, "Vera now")
    }))

  it.effect("S-014: only the server that suspended an account can lift that suspension", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [gil, ulla] = [yield* newPerson("gil"), yield* there("ulla")]
      const { id } = yield* found(gil, "ulla")
      const peer = yield* OtherServer
      const document = peer.documents.get("/users/ulla") as object
      const says = Effect.fnUntraced(function*(suspended: boolean) {
        peer.documents.set("/users/ulla", { ...document, suspended })
        yield* deliverFrom(ulla, { type: "Update", object: ulla.id })
        yield* until(sql`SELECT FROM errands`)
        return (yield* json(gil, `/api/v1/accounts/${id}`)).error ?? "there"
      })
      const moderators = Effect.fnUntraced(function*(inForce: boolean) {
        yield* sql`INSERT INTO account_intents (id, account_id, kind, details, created_at) VALUES (${Date.now()}, ${id}, 'Moderate',
          ${JSON.stringify({ _tag: "Moderate", measure: "suspend", stands: inForce })}::jsonb, ${new Date()})`
        yield* until(sql`SELECT FROM account_intents`)
        return (yield* json(gil, `/api/v1/accounts/${id}`)).error ?? "there"
      })
      assert.deepStrictEqual([yield* says(true), yield* says(false)], ["Gone", "there"])
      // Moderators can lift their own suspension, but not that of the account's server.
      assert.deepStrictEqual([yield* says(true), yield* moderators(false)], ["Gone", "Gone"])
      assert.deepStrictEqual([yield* moderators(true), yield* says(false)], ["Gone", "Gone"])
      assert.deepStrictEqual([yield* says(true), yield* says(false)], ["Gone", "Gone"])
      assert.strictEqual(yield* moderators(false), "there")
      yield* settled
    }))
})
