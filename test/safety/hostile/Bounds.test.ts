import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { userDomainBlocksMax } from "../../../src/services/social/UserDomainBlocks.ts"
import { ask } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"

const admin = "/api/v1/admin"
/** Concurrent requests for the last free row. */
const requests = 4

interface Bounded {
  readonly table: string
  readonly max: number
  readonly path: string
  readonly body: (number: number) => object
  /** Columns and values of rows that fill the table; `n` numbers them. */
  readonly filler: string
  /** Rows that count. */
  readonly counted?: string
}

const bounded: ReadonlyArray<Bounded> = [
  {
    table: "webhooks",
    max: 20,
    path: `${admin}/webhooks`,
    body: (n) => ({ url: `https://hooks.example/new/${n}`, events: ["report.created"] }),
    filler: `(id, url, events, secret, template, enabled, created_at, updated_at)
      SELECT n, 'https://hooks.example/' || n, '{report.created}', '', '', true, now(), now()`
  },
  {
    table: "moderation_lists",
    max: 50,
    path: `${admin}/moderation_lists`,
    body: (n) => ({ name: "L", url: `https://lists.example/new/${n}`, type: "csv", list_action: "reject" }),
    filler: `(id, name, url, type, action, priority, apply_automatically, retract_automatically,
      preserve_relationships, override_unattributed, created_at, due_at)
      SELECT n, 'L', 'https://lists.example/' || n, 'csv', 'reject', 0, false, false, true, false, now(),
        now() + interval '1 day'`,
    counted: "ended_at IS NULL"
  },
  {
    table: "rules",
    max: 50,
    path: `${admin}/rules`,
    body: (n) => ({ text: `Rule ${n}` }),
    filler: "(id, priority, text, hint, translations) SELECT n, n, 'Rule', '', '{}'",
    counted: "deleted_at IS NULL"
  },
  {
    table: "roles",
    max: 100,
    path: `${admin}/roles`,
    body: (n) => ({ name: `Role ${n}`, permissions: "0" }),
    filler: "(id, name, position, permissions) SELECT 1000 + n, 'filler' || n, 1, 0"
  },
  {
    table: "announcements",
    max: 100,
    path: `${admin}/announcements`,
    body: (n) => ({ text: `Words ${n}` }),
    filler: "(id, text, all_day, created_at, updated_at) SELECT n, 'Words', false, now(), now()"
  },
  {
    table: "username_blocks",
    max: 10_000,
    path: `${admin}/username_blocks`,
    body: (n) => ({ username: `new_${n}${"abcd".charAt(n)}` }),
    filler: `(id, username, normalized_username, exact, allow_with_approval, created_at, updated_at)
      SELECT n, 'name' || n, 'name' || n, true, false, now(), now()`
  },
  {
    table: "instance_notes",
    max: 1_000,
    path: `${admin}/instances/noted.example/notes`,
    body: (n) => ({ content: `Note ${n}` }),
    filler: "(id, domain, content, created_at) SELECT n, 'noted.example', 'Note', now()"
  },
  {
    table: "relays",
    max: 100,
    path: `${admin}/relays`,
    body: (n) => ({ inbox_url: `https://relay${n}.example/inbox` }),
    filler:
      `(id, kind, inbox_url, inbox_id, state, created_at) SELECT n, 'mastodon', 'https://old' || n || '.example/inbox',
        inbox_number('https://old' || n || '.example/inbox'), 'idle', now()`
  },
  {
    table: "warning_presets",
    max: 100,
    path: `${admin}/warning_presets`,
    body: (n) => ({ title: `Title ${n}`, text: "Words" }),
    filler: "(id, title, text, created_at, updated_at) SELECT n, 'T', 'Words', now(), now()"
  },
  {
    table: "canonical_email_blocks",
    max: 100_000,
    path: `${admin}/canonical_email_blocks`,
    body: (n) => ({ email: `new${n}@mail.example` }),
    filler: "(id, canonical_email_hash, created_at) SELECT n, n::text, now()"
  },
  {
    table: "domain_blocks",
    max: 200_000,
    path: `${admin}/domain_blocks`,
    body: (n) => ({ domain: `new${n}.example`, severity: "noop" }),
    filler: `(id, domain, severity, reject_media, reject_reports, obfuscate, created_at, updated_at)
      SELECT n, 'd' || n || '.example', 'noop', false, false, false, now(), now()`
  }
]

layer(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), { excludeTestServices: true, timeout: "3 minutes" })(
  "bounded tables",
  (it) => {
    it.effect.each(bounded)(
      "F73: the last free row of $table goes to one of several concurrent requests",
      ({ body, counted = "TRUE", filler, max, path, table }) =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          // Each by another member: one member's commands may be serialised already.
          const staff = yield* Effect.forEach(
            Array.from({ length: requests }, (_, number) => `o${number}_${table}`),
            (name) => staffMember(name, ["administrator"], 1_000)
          )
          const rows = sql.literal(`${table} WHERE ${counted}`)
          const count = Effect.map(
            sql<{ count: number }>`SELECT count(*)::int AS count FROM ${rows}`,
            ([row]) => row!.count
          )
          yield* sql`INSERT INTO ${sql.literal(`${table} ${filler}`)}
            FROM generate_series(1, ${sql.literal(String(max - 1))} - (SELECT count(*)::int FROM ${rows})) n`
          assert.strictEqual(yield* count, max - 1)
          // Inserts wait at a gate behind their count.
          yield* sql`CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NEW; END'`
          yield* sql.unsafe(`CREATE TRIGGER gate BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION gate()`)
          const asked = yield* sql.withTransaction(Effect.gen(function*() {
            yield* sql`SELECT pg_advisory_xact_lock(77)`
            const asking = yield* Effect.forkDetach(Effect.all(
              staff.map((owner, number) => ask(owner, "POST", path, body(number))),
              { concurrency: "unbounded" }
            ))
            yield* eventually(
              sql<{ waiting: number }>`SELECT count(DISTINCT pid)::int AS waiting FROM pg_locks WHERE NOT granted`,
              ([row]) => row!.waiting >= requests
            )
            return asking
          }))
          const answers = yield* Fiber.join(asked)
          yield* sql.unsafe(`DROP TRIGGER gate ON ${table}`)
          assert.strictEqual(yield* count, max, JSON.stringify(answers.map((one) => one.body)).slice(0, 2_000))
          assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422, 422])
        })
    )

    it.effect("F73: rows of large tables are counted as they come and go, also in bulk and undone", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const isExact = Effect.map(
          sql<{ exact: boolean }>`SELECT (SELECT rows FROM row_counts WHERE name = 'email_domain_blocks')
            = (SELECT count(*) FROM email_domain_blocks) AS exact`,
          ([row]) => row!.exact
        )
        const insert = (from: number, to: number) =>
          sql`INSERT INTO email_domain_blocks (id, domain, allow_with_approval, created_at)
            SELECT n, 'e' || n || '.example', false, now() FROM generate_series(${
            sql.literal(`${from}, ${to}`)
          }) n ON CONFLICT DO NOTHING`
        yield* insert(1, 50)
        yield* insert(40, 60)
        assert.isTrue(yield* isExact)
        yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(100, 120), Effect.fail("undone"))))
        assert.isTrue(yield* isExact)
        yield* sql`DELETE FROM email_domain_blocks WHERE id > 30`
        assert.isTrue(yield* isExact)
      }))

    it.effect("F76: a user blocks a bounded number of domains, and may repeat a block that is there", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const user = yield* staffMember("o_domains", [], 1_000)
        yield* sql`INSERT INTO domain_mutes (id, account_id, domain) SELECT n, ${user.accountId}, 'd' || n || '.example'
          FROM generate_series(1, ${sql.literal(String(userDomainBlocksMax))}) n`
        const block = (domain: string) => ask(user, "POST", "/api/v1/domain_blocks", { domain })
        assert.strictEqual((yield* block("one-more.example")).status, 422)
        assert.strictEqual((yield* block("d1.example")).status, 200)
      }))

    it.effect("F73: lists that ended do not count, and every row is listed, those above the bound included", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* staffMember("o_ended", ["administrator"], 1_000)
        yield* sql`UPDATE moderation_lists SET ended_at = now()`
        const path = `${admin}/moderation_lists`
        const wish = { name: "L", url: "https://lists.example/last", type: "csv", list_action: "reject" }
        assert.strictEqual((yield* ask(owner, "POST", path, wish)).status, 200)
        // Rows from before the bound held.
        yield* sql`INSERT INTO webhooks (id, url, events, secret, template, enabled, created_at, updated_at)
          SELECT 100 + n, 'https://old.example/' || n, '{report.created}', '', '', true, now(), now()
          FROM generate_series(1, 8) n`
        assert.lengthOf((yield* ask(owner, "GET", `${admin}/webhooks`)).body, 28)
      }))
  }
)
