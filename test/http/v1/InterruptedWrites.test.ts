import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { eventually } from "../../support/Eventually.ts"
import { newPerson, shown } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const decode = Schema.decodeUnknownSync(Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String)
}))

const publishOnce = Effect.fnUntraced(function*(author: Person, status: string, more: Record<string, unknown> = {}) {
  const { fetch } = yield* TestServer
  const response = yield* fetch("/api/v1/statuses", {
    method: "POST",
    token: author.token,
    json: { status, ...more },
    headers: { "idempotency-key": `key of ${status}` }
  })
  const body = decode(yield* Effect.promise(() => response.json()))
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body }
})
const posts = (author: Person) =>
  Effect.map(
    shown(author, `/api/v1/accounts/${author.accountId}/statuses`),
    (statuses) => statuses.map(({ content, id }) => [id, content.replace(/<[^>]*>/g, "")])
  )

/** Completes when no session of the database waits for a lock. */
const nobodyWaits = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  yield* eventually(waiting, ([row]) => row?.n === 0)
})

/** Runs work while a lock is held. */
const behind = Effect.fnUntraced(
  function*<A, E, R>(lock: (sql: SqlClient.SqlClient) => Fragment, work: Effect.Effect<A, E, R>) {
    const sql = yield* SqlClient.SqlClient
    const [held, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const holder = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
      yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
      yield* sql`${lock(sql)}`
      yield* Deferred.succeed(held, undefined)
      yield* Deferred.await(released)
    })))
    yield* Deferred.await(held)
    const done = yield* work
    yield* Deferred.succeed(released, undefined)
    yield* Fiber.join(holder)
    return done
  }
)

layer(TestServer.layer({ RESPONSE_SECONDS_MAX: "5" }), { excludeTestServices: true })(
  "a write interrupted with 503",
  (it) => {
    it.effect("F99, D-023: is withdrawn while it waits, and its key executes it once", () =>
      Effect.gen(function*() {
        const ada = yield* newPerson
        const { body: first } = yield* publishOnce(ada, "first")
        // The post being written waits for its author's row, the other one for that post.
        const told = yield* behind(
          (sql) => sql`SELECT FROM accounts WHERE id = ${ada.accountId} FOR UPDATE`,
          Effect.all([publishOnce(ada, "begun"), publishOnce(ada, "queued")], { concurrency: 2 }).pipe(
            Effect.tap(nobodyWaits)
          )
        )
        for (const { body, retryAfter, status } of told) {
          assert.deepStrictEqual([status, retryAfter], [503, "5"])
          assert.strictEqual(body.error, "There was a temporary problem serving your request, please try again")
        }
        // An account's commands run in order: if either of the two was still queued, it would run before this one.
        const { body: last } = yield* publishOnce(ada, "last")
        assert.deepStrictEqual(yield* posts(ada), [[last.id, "last"], [first.id, "first"]])
        const [again, twice] = [yield* publishOnce(ada, "begun"), yield* publishOnce(ada, "begun")]
        assert.deepStrictEqual([again.status, twice.body.id], [200, again.body.id])
        assert.deepStrictEqual(yield* posts(ada), [[again.body.id, "begun"], [last.id, "last"], [first.id, "first"]])
      }))

    it.effect("F99: a committed write with a late response is kept, and its idempotency key returns the response", () =>
      Effect.gen(function*() {
        const ada = yield* newPerson
        const { body: first } = yield* publishOnce(ada, "to be replied to")
        // Rendering a reply queries the reader's bookmark; writing it does not.
        const told = yield* behind(
          (sql) => sql`LOCK TABLE bookmarks IN ACCESS EXCLUSIVE MODE`,
          publishOnce(ada, "a reply", { in_reply_to_id: first.id })
        )
        assert.strictEqual(told.status, 503)
        const [[written] = []] = yield* posts(ada)
        assert.notStrictEqual(written, first.id)
        const again = yield* publishOnce(ada, "a reply", { in_reply_to_id: first.id })
        assert.deepStrictEqual([again.status, again.body.id], [200, written])
        assert.lengthOf(yield* posts(ada), 2)
      }))
  }
)
