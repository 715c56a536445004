import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { separatedMax } from "../../../src/services/statuses/Interactions.ts"
import { ask } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

const poll = { options: ["a", "b"], expires_in: 3_600 }
/**
 * Interactions by path, and the HTTP status when the viewer blocks the author, and when the author blocks the viewer.
 */
const interactions = [
  { path: "favourite", blocking: 403, blocked: 404 },
  { path: "reblog", blocking: 403, blocked: 404 },
  { path: "bookmark", blocking: 200, blocked: 404 }
]

layer(TestServer.layer(), { excludeTestServices: true })("interactions across a block", (it) => {
  it.effect("F72: blocks prevent favourites, boosts and votes; replies and bookmarks are as in Mastodon", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      const { body } = yield* ask(bob, "POST", "/api/v1/statuses", { status: "Hello", poll })
      const block = (by: typeof ada, other: typeof ada, verb: string) =>
        ask(by, "POST", `/api/v1/accounts/${other.accountId}/${verb}`, {})
      const tried = Effect.gen(function*() {
        const found: Array<number> = []
        for (const { path } of interactions) {
          found.push((yield* ask(ada, "POST", `/api/v1/statuses/${body.id}/${path}`, {})).status)
        }
        found.push((yield* ask(ada, "POST", `/api/v1/polls/${body.poll.id}/votes`, { choices: [0] })).status)
        found.push((yield* ask(ada, "POST", "/api/v1/statuses", { status: "yes", in_reply_to_id: body.id })).status)
        return found
      })
      yield* block(ada, bob, "block")
      assert.deepStrictEqual(yield* tried, [...interactions.map(({ blocking }) => blocking), 403, 200])
      yield* block(ada, bob, "unblock")
      yield* block(bob, ada, "block")
      assert.deepStrictEqual(yield* tried, [...interactions.map(({ blocked }) => blocked), 404, 404])
      yield* block(bob, ada, "unblock")
      assert.deepStrictEqual(yield* tried, [...interactions.map(() => 200), 200, 200])
    }))

  it.effect("F185: a block ends all replies, quotes and requests of the other account, in slices", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson } = yield* TestServer
      const [eva, max] = [yield* createPerson("eva"), yield* createPerson("max")]
      const { body: post } = yield* ask(eva, "POST", "/api/v1/statuses", { status: "Hello" })
      const { body: reply } = yield* ask(max, "POST", "/api/v1/statuses", { status: "Yes", in_reply_to_id: post.id })
      const copies = 2 * separatedMax
      yield* sql`INSERT INTO statuses SELECT (jsonb_populate_record(s, jsonb_build_object('id', s.id + n, 'uri', NULL))).*
        FROM statuses s, generate_series(1, ${copies}::int) n WHERE s.id = ${BigInt(reply.id)}`
      yield* sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, state, legacy, created_at)
        SELECT id, account_id, in_reply_to_id, in_reply_to_account_id, 'accepted', false, now() FROM statuses
        WHERE in_reply_to_id = ${BigInt(post.id)}`
      yield* sql`INSERT INTO interaction_requests (id, kind, account_id, target_account_id, status_id, state, created_at)
        SELECT id, 'favourite', account_id, ${BigInt(eva.accountId)}, id, 'pending', now() FROM statuses
        WHERE in_reply_to_id = ${BigInt(post.id)}`
      assert.strictEqual((yield* ask(eva, "POST", `/api/v1/accounts/${max.accountId}/block`, {})).status, 200)
      const left = sql`SELECT id FROM statuses WHERE in_reply_to_id = ${BigInt(post.id)}
        UNION ALL SELECT status_id FROM quotes WHERE state = 'accepted'
        UNION ALL SELECT id FROM interaction_requests WHERE state = 'pending'`
      yield* eventually(left, (rows) => rows.length === 0)
    }))
})
