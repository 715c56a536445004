import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs } from "../../../src/services/intents/Jobs.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const [ofAccountMax, ofHostMax] = [500, 5_000]

layer(Jobs.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "jobs by sender",
  (it) => {
    const now = new Date()
    /** Adds an account of a domain, with posts numbered from its id on. */
    const account = Effect.fnUntraced(function*(id: number, domain: string | null, posts: number) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
      VALUES (${id}, ${`a${id}`}, ${domain}, ${domain === null ? null : `https://${domain}/${id}`}, ${now}, ${now})`
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, local, created_at)
      SELECT ${id}::bigint + n, ${id}, 'public', 1, ${domain === null}, ${now} FROM generate_series(1, ${posts}::int) n`
    })
    const count = (domain: string | null) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.map(
          sql<{ count: number }>`SELECT count(*)::int AS count FROM errands WHERE host IS NOT DISTINCT FROM ${domain}`,
          ([row]) => row!.count
        ))

    it.effect("F74, F183: an account that filled its share adds no job; others do, and known jobs are rescheduled", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const jobs = yield* Jobs
        yield* account(1_000_000, "loud.example", ofAccountMax + 10)
        yield* account(2_000_000, "loud.example", 1)
        yield* account(3_000_000, null, 1)
        yield* sql`INSERT INTO errands (kind, subject_id, due_at)
        SELECT 'mentions', 1000000 + n, ${now} FROM generate_series(1, ${ofAccountMax - 1}::int) n`
        const last = [6, 7, 8, 9].map((n) => jobs.enqueue("mentions", BigInt(1_000_000 + ofAccountMax + n)))
        yield* Effect.all(last, { concurrency: "unbounded" })
        assert.strictEqual(yield* count("loud.example"), ofAccountMax)
        // Twice in one transaction.
        yield* sql.withTransaction(Effect.all(last))
        assert.strictEqual(yield* count("loud.example"), ofAccountMax)
        yield* jobs.enqueue("mentions", 1_000_001n, 60_000)
        const [known] = yield* sql`SELECT due_at > ${now} AS later FROM errands WHERE subject_id = 1000001`
        assert.deepStrictEqual(known, { later: true })
        yield* jobs.enqueue("quote", 2_000_001n)
        yield* jobs.enqueue("links", 3_000_000n)
        assert.deepStrictEqual([yield* count("loud.example"), yield* count(null)], [ofAccountMax + 1, 1])
      }))

    it.effect("F74, F183: a server with many accounts that filled its share adds no job; the local server's own checks do", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const jobs = yield* Jobs
        yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        SELECT 5000000 + n, 'n' || n, 'many.example', 'https://many.example/' || n, ${now}, ${now}
        FROM generate_series(1, ${ofHostMax + 1}::int) n`
        yield* sql`ALTER TABLE errands DISABLE TRIGGER errand_bounded`
        yield* sql`INSERT INTO errands (kind, subject_id, due_at)
        SELECT 'links', 5000000 + n, ${now} FROM generate_series(1, ${ofHostMax}::int) n`
        yield* sql`ALTER TABLE errands ENABLE TRIGGER errand_bounded`
        yield* jobs.enqueue("links", BigInt(5_000_000 + ofHostMax + 1))
        assert.strictEqual(yield* count("many.example"), ofHostMax)
        yield* account(4_000_000, "quiet.example", 1)
        yield* jobs.enqueue("profile", 4_000_000n)
        yield* account(6_000_000, "many.example", 1)
        yield* jobs.enqueue("consent", 6_000_001n)
        assert.strictEqual(yield* count("quiet.example"), 1)
        const [own] = yield* sql`SELECT account_id FROM errands WHERE kind = 'consent'`
        assert.deepStrictEqual(own, { accountId: null })
        // After work is done, the next job is accepted.
        yield* sql`DELETE FROM errands WHERE subject_id = 5000001`
        yield* jobs.enqueue("links", BigInt(5_000_000 + ofHostMax + 1))
        assert.strictEqual(yield* count("many.example"), ofHostMax)
      }))
  }
)
