import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { domainRulesMax } from "../../../src/services/federation/domains/DomainPolicies.ts"
import { customEmojisMax } from "../../../src/services/instance/CustomEmojis.ts"
import { ipBlocksMax } from "../../../src/services/moderation/BlockedAddresses.ts"
import { userDomainBlocksMax } from "../../../src/services/social/UserDomainBlocks.ts"
import { ask } from "../../support/Api.ts"
import { assertOneSucceeded, behindGate } from "../../support/Gates.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"

const admin = "/api/v1/admin"
/** Concurrent requests for the last free row. */
const requests = 4

interface Bounded {
  readonly table: string
  readonly max: number
  /** Request of a staff member that adds a row. */
  readonly request: (by: Person, number: number, first: Person) => Effect.Effect<
    { readonly status: number; readonly body: unknown },
    unknown,
    TestServer
  >
  /** Columns and values of rows that fill the table; `n` is their number. */
  readonly filler: string
  /** Condition for the rows that count. */
  readonly counted?: string
}

const posted = (path: string, body: (number: number) => object) => (by: Person, number: number) =>
  ask(by, "POST", path, body(number))

const bounded: ReadonlyArray<Bounded> = [
  {
    table: "webhooks",
    max: 20,
    request: posted(
      `${admin}/webhooks`,
      (n) => ({ url: `https://hooks.example/new/${n}`, events: ["report.created"] })
    ),
    filler: `(id, url, events, secret, template, enabled, created_at, updated_at)
      SELECT n, 'https://hooks.example/' || n, '{report.created}', '', '', true, now(), now()`
  },
  {
    table: "moderation_lists",
    max: 50,
    request: posted(
      `${admin}/moderation_lists`,
      (n) => ({ name: "L", url: `https://lists.example/new/${n}`, type: "csv", list_action: "reject" })
    ),
    filler: `(id, name, url, type, action, priority, apply_automatically, retract_automatically,
      preserve_relationships, override_unattributed, created_at, due_at)
      SELECT n, 'L', 'https://lists.example/' || n, 'csv', 'reject', 0, false, false, true, false, now(),
        now() + interval '1 day'`,
    counted: "ended_at IS NULL"
  },
  {
    table: "rules",
    max: 50,
    request: posted(`${admin}/rules`, (n) => ({ text: `Rule ${n}` })),
    filler: "(id, priority, text, hint, translations) SELECT n, n, 'Rule', '', '{}'",
    counted: "deleted_at IS NULL"
  },
  {
    table: "roles",
    max: 100,
    request: posted(`${admin}/roles`, (n) => ({ name: `Role ${n}`, permissions: "0" })),
    filler: "(id, name, position, permissions) SELECT 1000 + n, 'filler' || n, 1, 0"
  },
  {
    table: "announcements",
    max: 100,
    request: posted(`${admin}/announcements`, (n) => ({ text: `Words ${n}` })),
    filler: "(id, text, all_day, created_at, updated_at) SELECT n, 'Words', false, now(), now()"
  },
  {
    table: "username_blocks",
    max: 10_000,
    request: posted(`${admin}/username_blocks`, (n) => ({ username: `new_${n}${"abcd".charAt(n)}` })),
    filler: `(id, username, normalized_username, exact, allow_with_approval, created_at, updated_at)
      SELECT n, 'name' || n, 'name' || n, true, false, now(), now()`
  },
  {
    table: "instance_notes",
    max: 1_000,
    request: posted(`${admin}/instances/noted.example/notes`, (n) => ({ content: `Note ${n}` })),
    filler: "(id, domain, content, created_at) SELECT n, 'noted.example', 'Note', now()"
  },
  {
    table: "relays",
    max: 100,
    request: posted(`${admin}/relays`, (n) => ({ inbox_url: `https://relay${n}.example/inbox` })),
    filler:
      `(id, kind, inbox_url, inbox_id, state, created_at) SELECT n, 'mastodon', 'https://old' || n || '.example/inbox',
        inbox_number('https://old' || n || '.example/inbox'), 'idle', now()`
  },
  {
    table: "warning_presets",
    max: 100,
    request: posted(`${admin}/warning_presets`, (n) => ({ title: `Title ${n}`, text: "Words" })),
    filler: "(id, title, text, created_at, updated_at) SELECT n, 'T', 'Words', now(), now()"
  },
  {
    table: "canonical_email_blocks",
    max: 100_000,
    request: posted(`${admin}/canonical_email_blocks`, (n) => ({ email: `new${n}@mail.example` })),
    filler: "(id, canonical_email_hash, created_at) SELECT n, n::text, now()"
  },
  {
    table: "domain_blocks",
    max: 200_000,
    request: posted(`${admin}/domain_blocks`, (n) => ({ domain: `new${n}.example`, severity: "noop" })),
    filler: `(id, domain, severity, reject_media, reject_reports, obfuscate, created_at, updated_at)
      SELECT n, 'd' || n || '.example', 'noop', false, false, false, now(), now()`
  },
  {
    table: "domain_allows",
    max: domainRulesMax,
    request: posted(`${admin}/domain_allows`, (n) => ({ domain: `new${n}.example` })),
    filler: "(id, domain, created_at) SELECT n, 'd' || n || '.example', now()"
  },
  {
    table: "ip_blocks",
    max: ipBlocksMax,
    request: posted(`${admin}/ip_blocks`, (n) => ({ ip: `192.0.2.${n}/32`, severity: "sign_up_block" })),
    filler: `(id, ip, severity, comment, created_at, updated_at)
      SELECT n, (inet '10.0.0.0' + n)::cidr, 'sign_up_block', '', now(), now()`
  },
  {
    table: "email_domain_blocks",
    max: 100_000,
    request: posted(`${admin}/email_domain_blocks`, (n) => ({ domain: `new${n}.example` })),
    filler: `(id, domain, allow_with_approval, created_at) SELECT n, 'd' || n || '.example', false, now()`
  },
  {
    table: "moderation_notes",
    max: 1_000,
    request: (by, number, first) =>
      ask(by, "POST", `${admin}/accounts/${first.accountId}/notes`, { content: `Note ${number}` }),
    filler: `(id, target_account_id, content, created_at)
      SELECT n, (SELECT id FROM accounts WHERE username = 'o0_moderation_notes'), 'Note', now()`
  },
  {
    table: "document_versions",
    max: 100,
    request: (by, number) =>
      ask(by, "PATCH", `${admin}/settings`, {
        privacy_policy: { content: "Words", effective_date: `2026-01-0${number + 1}` }
      }),
    filler: `(id, kind, html, effective_on, published_at)
      SELECT n, 'privacy_policy', '<p>Words</p>', (date '2020-01-01' + n::int)::text, now()`,
    counted: "kind = 'privacy_policy'"
  },
  {
    table: "custom_emojis",
    max: customEmojisMax,
    request: (by, number) =>
      Effect.gen(function*() {
        const { fetch } = yield* TestServer
        const image = yield* Effect.promise(() =>
          sharp({ create: { width: 20, height: 20, channels: 4, background: "red" } }).png().toBuffer()
        )
        const body = new FormData()
        body.set("shortcode", `new${number}`)
        body.set("image", new Blob([new Uint8Array(image)]), "x.png")
        const { status } = yield* fetch(`${admin}/custom_emojis`, { method: "POST", token: by.token, body })
        return { status, body: undefined }
      }),
    filler: `(id, shortcode, file_name, static_name, created_at)
      SELECT n, 'filler' || n, 'a' || n || '.png', null, now()`
  }
]

layer(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), { excludeTestServices: true })(
  "bounded tables",
  (it) => {
    it.effect.each(bounded)(
      "F73: the last free row of $table goes to one of several concurrent requests",
      ({ counted = "TRUE", filler, max, request, table }) =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          // Each by another member: commands of one member may be serialised anyway.
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
          const wishes = staff.map((owner, number) => request(owner, number, staff[0]!))
          const responses = yield* behindGate(table, "INSERT", wishes)
          assert.strictEqual(yield* count, max, JSON.stringify(responses.map((one) => one.body)).slice(0, 2_000))
          yield* assertOneSucceeded(responses, wishes)
          assert.strictEqual(yield* count, max)
        })
    )

    it.effect("F73: of concurrent renewals of expired IP blocks, one gets the last free row", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM ip_blocks`
        yield* sql`INSERT INTO ip_blocks (id, ip, severity, comment, created_at, updated_at, expires_at)
          SELECT n, (inet '10.0.0.0' + n)::cidr, 'sign_up_block', '', now(), now(),
            CASE WHEN n <= ${requests} THEN now() - interval '1 day' END
          FROM generate_series(1, ${sql.literal(String(ipBlocksMax - 1 + requests))}) n`
        const staff = yield* Effect.forEach(
          Array.from({ length: requests }, (_, number) => `o${number}_renewed`),
          (name) => staffMember(name, ["administrator"], 1_000)
        )
        const wishes = staff.map((by, number) =>
          ask(by, "PATCH", `${admin}/ip_blocks/${number + 1}`, { expires_in: 3_600 })
        )
        yield* assertOneSucceeded(yield* behindGate("ip_blocks", "UPDATE", wishes), wishes)
        const [row] = yield* sql`SELECT count(*)::int AS expired FROM ip_blocks WHERE expires_at < now()`
        assert.deepStrictEqual(row, { expired: requests - 1 })
        yield* sql`DELETE FROM ip_blocks`
      }))

    it.effect("F73: rows of large tables are counted as they are inserted and deleted, also in bulk and rolled back", () =>
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

    it.effect("F76: a user blocks a bounded number of domains, and may repeat an existing block", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const user = yield* staffMember("o_domains", [], 1_000)
        yield* sql`INSERT INTO domain_mutes (id, account_id, domain) SELECT n, ${user.accountId}, 'd' || n || '.example'
          FROM generate_series(1, ${sql.literal(String(userDomainBlocksMax))}) n`
        const block = (domain: string) => ask(user, "POST", "/api/v1/domain_blocks", { domain })
        assert.strictEqual((yield* block("one-more.example")).status, 422)
        assert.strictEqual((yield* block("d1.example")).status, 200)
      }))

    it.effect("F184: of one user's concurrent domain blocks, one gets the last free row", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const user = yield* staffMember("o_racing", [], 1_000)
        yield* sql`INSERT INTO domain_mutes (id, account_id, domain)
          SELECT 1000000 + n, ${user.accountId}, 'd' || n || '.example'
          FROM generate_series(1, ${sql.literal(String(userDomainBlocksMax - 1))}) n`
        const wishes = Array.from(
          { length: requests },
          (_, number) => ask(user, "POST", "/api/v1/domain_blocks", { domain: `new${number}.example` })
        )
        yield* assertOneSucceeded(yield* Effect.all(wishes, { concurrency: "unbounded" }), wishes)
        const [row] = yield* sql`SELECT count(*)::int AS count FROM domain_mutes WHERE account_id = ${user.accountId}`
        assert.deepStrictEqual(row, { count: userDomainBlocksMax })
      }))

    it.effect("F73: ended entries do not count, and every row is listed, including those above the bound", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* staffMember("o_ended", ["administrator"], 1_000)
        yield* sql`UPDATE moderation_lists SET ended_at = now()`
        const path = `${admin}/moderation_lists`
        const wish = { name: "L", url: "https://lists.example/last", type: "csv", list_action: "reject" }
        assert.strictEqual((yield* ask(owner, "POST", path, wish)).status, 200)
        // Rows from before the bound existed.
        yield* sql`INSERT INTO webhooks (id, url, events, secret, template, enabled, created_at, updated_at)
          SELECT 100 + n, 'https://old.example/' || n, '{report.created}', '', '', true, now(), now()
          FROM generate_series(1, 8) n`
        assert.lengthOf((yield* ask(owner, "GET", `${admin}/webhooks`)).body, 28)
      }))
  }
)
