import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, idsOf, newPerson, settled } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { act, only, reply, requests, response } from "../../support/InteractionCalls.ts"
import { notified, post, show } from "../../support/QuoteCalls.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("pending interactions", (it) => {
  it.effect("row 21: a pending reply is hidden from others: not counted, and on the profile only for its author", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna8"), yield* newPerson("ben8")]
      const asked = yield* post(anna, "ask me", only("can_reply", [], ["public"]))
      const held = yield* Effect.forEach(
        ["one", "two", "three"],
        (text) => Effect.map(reply(ben, asked, text), ({ body }): string => body.id)
      )
      const profile = `/api/v1/accounts/${ben.accountId}`
      const count = Effect.map(ask(anna, "GET", profile), ({ body }) => body.statuses_count)
      assert.deepStrictEqual(yield* idsOf(anna, `${profile}/statuses`), [])
      assert.deepStrictEqual(yield* idsOf(undefined, `${profile}/statuses`), [])
      assert.deepStrictEqual(yield* idsOf(ben, `${profile}/statuses`), held.toReversed())
      assert.strictEqual(yield* count, 0)
      const { body: waiting } = yield* requests(anna)
      assert.strictEqual((yield* response(anna, waiting[2].id, "authorize")).status, 200)
      yield* settled
      assert.deepStrictEqual(yield* idsOf(anna, `${profile}/statuses`), held.slice(0, 1))
      assert.strictEqual(yield* count, 1)
      // A refused post stays its author's until deleted; deleting a pending one changes nothing.
      assert.strictEqual((yield* response(anna, waiting[1].id, "reject")).status, 200)
      assert.strictEqual(yield* count, 2)
      for (const id of held.slice(1)) {
        assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/statuses/${id}`)).status, 200)
      }
      yield* settled
      assert.strictEqual(yield* count, 1)
    }))

  it.effect("row 21: a pending reply counts neither as a use of its hashtags nor as its author's last post, until it is approved", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben] = [yield* newPerson("anna10"), yield* newPerson("ben10")]
      const asked = yield* post(anna, "ask me", only("can_reply", [], ["public"]))
      const before = "2020-01-01"
      yield* post(ben, "long ago")
      yield* sql`UPDATE statuses SET created_at = ${new Date(before)} WHERE account_id = ${ben.accountId}`
      yield* sql`UPDATE account_stats SET last_status_at = ${new Date(before)} WHERE account_id = ${ben.accountId}`
      const standing = Effect.gen(function*() {
        const { body: author } = yield* ask(undefined, "GET", `/api/v1/accounts/${ben.accountId}`)
        const { body: tag } = yield* ask(undefined, "GET", "/api/v1/tags/waitingword")
        const [row] = yield* sql<{ at: Date | null }>`SELECT last_status_at AS at FROM tags WHERE name = 'waitingword'`
        return { posted: author.last_status_at !== before, uses: tag.history[0].uses, seen: row?.at !== null }
      })
      const { body: first } = yield* reply(ben, asked, "may I say #waitingword")
      yield* reply(ben, asked, "or #waitingword")
      assert.deepStrictEqual(yield* standing, { posted: false, uses: "0", seen: false })
      assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/statuses/${first.id}`)).status, 200)
      assert.deepStrictEqual(yield* standing, { posted: false, uses: "0", seen: false })
      const { body: waiting } = yield* requests(anna)
      assert.strictEqual((yield* response(anna, waiting[0].id, "authorize")).status, 200)
      assert.deepStrictEqual(yield* standing, { posted: true, uses: "1", seen: true })
    }))

  it.effect("row 21: a reply undecided for 90 days ends as refused; its author may ask again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben] = [yield* newPerson("anna9"), yield* newPerson("ben9")]
      const asked = yield* post(anna, "ask me", {
        interaction_policy: {
          can_reply: { manual_approval: ["public"] },
          can_favourite: { manual_approval: ["public"] },
          can_reblog: { manual_approval: ["public"] }
        }
      })
      const { body: held } = yield* reply(ben, asked, "may I")
      yield* act(ben, asked, "favourite")
      const { body: boost } = yield* act(ben, asked, "reblog")
      yield* settled
      const { body: waiting } = yield* requests(anna)
      assert.strictEqual(waiting.length, 3)
      const entries = sql<
        { days: number }
      >`SELECT round(extract(epoch FROM a.due_at - r.created_at) / 86400)::int AS days
        FROM agenda a JOIN interaction_requests r ON r.id = a.subject_id AND a.kind = 'interaction_request'
        WHERE r.account_id = ${ben.accountId}`
      assert.deepStrictEqual(yield* entries, [{ days: 90 }, { days: 90 }, { days: 90 }])
      // A decided request no longer expires.
      const favourite = waiting.find(({ type }: { type: string }) => type === "favourite")
      assert.strictEqual((yield* response(anna, favourite.id, "authorize")).status, 200)
      assert.strictEqual((yield* entries).length, 2)
      yield* sql`UPDATE agenda SET due_at = '2020-01-01' WHERE kind = 'interaction_request' AND account_id = ${anna.accountId}`
      yield* eventually(requests(anna), ({ body }) => body.length === 0)
      yield* settled
      assert.deepStrictEqual(yield* notified(anna, "pending.reply"), [])
      const detached = yield* show(ben, held)
      assert.deepStrictEqual([detached.in_reply_to_id, detached.visibility], [null, "direct"])
      assert.strictEqual((yield* ask(anna, "GET", `/api/v1/statuses/${held.id}`)).status, 404)
      assert.strictEqual((yield* ask(ben, "GET", `/api/v1/statuses/${boost.id}`)).status, 404)
      const shown = yield* show(ben, asked)
      assert.deepStrictEqual([shown.favourites_count, shown.reblogs_count, shown.replies_count], [1, 0, 0])
      yield* act(ben, asked, "reblog")
      assert.strictEqual((yield* requests(anna)).body.length, 1)
    }))
})
