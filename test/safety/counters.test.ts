import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../support/Api.ts"
import { eventually } from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { get, post, type Reply } from "./Calls.ts"

const everything = { concurrency: "unbounded" } as const

layer(TestServer.layer(), { excludeTestServices: true })("row 80", (it) => {
  it.effect(
    "counters are exact after everybody has done and undone everything concurrently (I12)",
    () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const author = yield* createPerson("author")
        const fans = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], (number) => createPerson(`fan${number}`))
        const id = yield* publishedId(author, "Count me")
        const pairs = [["favourite", "unfavourite"], ["reblog", "unreblog"]] as const
        // Each fan does everything twice concurrently; fans with an even number keep it in the last round.
        yield* Effect.forEach(fans, (fan, index) =>
          Effect.gen(function*() {
            for (let round = 0; round < 3; round++) {
              yield* Effect.forEach(
                [...pairs, ...pairs],
                ([act, undo]) =>
                  Effect.forEach([act, undo, act], (verb) => post(`/api/v1/statuses/${id}/${verb}`, fan)),
                everything
              )
              yield* Effect.forEach(
                ["follow", "unfollow", "follow"],
                (verb) => post(`/api/v1/accounts/${author.accountId}/${verb}`, fan),
                everything
              )
            }
            const last = index % 2
            for (const pair of pairs) {
              yield* post(`/api/v1/statuses/${id}/${pair[last]}`, fan)
            }
            yield* post(`/api/v1/accounts/${author.accountId}/${last === 0 ? "follow" : "unfollow"}`, fan)
            yield* publishedId(fan, "@author a reply", { in_reply_to_id: id })
          }), everything)

        const { body: status } = yield* get(`/api/v1/statuses/${id}`)
        assert.deepInclude(status, { favourites_count: 4, reblogs_count: 4, replies_count: 8 })
        const { body: account } = yield* get(`/api/v1/accounts/${author.accountId}`)
        assert.deepInclude(account, { followers_count: 4, statuses_count: 1 })
        for (const [index, fan] of fans.entries()) {
          const { body } = yield* get(`/api/v1/accounts/${fan.accountId}`)
          assert.deepInclude(
            body,
            index % 2 === 0
              ? { following_count: 1, statuses_count: 2 }
              : { following_count: 0, statuses_count: 1 }
          )
        }
        const wrong = yield* sql`
        SELECT s.status_id FROM status_stats s WHERE
          s.favourites_count <> (SELECT count(*) FROM favourites f WHERE f.status_id = s.status_id)
          OR s.reblogs_count <> (SELECT count(*) FROM statuses r WHERE r.reblog_of_id = s.status_id AND r.deleted_at IS NULL)
          OR s.replies_count <> (SELECT count(*) FROM statuses r WHERE r.in_reply_to_id = s.status_id AND r.deleted_at IS NULL)`
        assert.deepStrictEqual(wrong, [])
        const { body: favouriters } = yield* get(`/api/v1/statuses/${id}/favourited_by`)
        assert.lengthOf(favouriters, 4)
      })
  )

  it.effect("F20: a command that Postgres aborts to resolve a deadlock is retried, and its client does not notice", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [ada, bob] = [yield* createPerson("deadly"), yield* createPerson("locked")]
      const id = yield* publishedId(ada, "Lock me")
      const waits = sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      const response = yield* Deferred.make<Reply>()
      // Bob's command holds the row of its actor and waits for this favourite; then this transaction also waits for
      // that row.
      const crossing = sql.withTransaction(Effect.gen(function*() {
        yield* sql`SET LOCAL deadlock_timeout = '30s'`
        yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (1, ${bob.accountId}, ${BigInt(id)})`
        yield* Effect.forkScoped(
          Effect.flatMap(post(`/api/v1/statuses/${id}/favourite`, bob), (got) => Deferred.succeed(response, got))
        )
        // A transaction keeps the activity of its first read until the snapshot is cleared.
        yield* eventually(
          Effect.andThen(sql`SELECT pg_stat_clear_snapshot()`, waits),
          ([row]) => row?.count === 1
        )
        yield* sql`SELECT FROM actors WHERE account_id = ${bob.accountId} FOR UPDATE`
        return yield* Effect.fail("undone")
      }))
      assert.strictEqual(yield* Effect.flip(crossing), "undone")
      const { body, status, text } = yield* Deferred.await(response)
      assert.strictEqual(status, 200, text)
      assert.deepInclude(body, { favourited: true, favourites_count: 1 })
    }))
})
