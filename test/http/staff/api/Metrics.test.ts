import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminCohort, AdminDimension, AdminMeasure } from "../../../../src/http/staff/wire/MetricsJson.ts"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const strict = { onExcessProperty: "error" } as const
const dayMillis = 86_400_000
const day = (millis: number) => new Date(millis).toISOString().slice(0, 10)

layer(TestServer.layer(), { excludeTestServices: true })("figures for staff", (it) => {
  it.effect("measures: each day of a period, its sum, and the sum of an equal period before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const staff = yield* staffMember("counter", ["viewDashboard"])
      const { createPerson } = yield* TestServer
      const [ann, ben] = [yield* createPerson("ann"), yield* createPerson("ben")]
      const { body: post } = yield* ask(ann, "POST", "/api/v1/statuses", { status: "one #birds" })
      yield* ask(ben, "POST", `/api/v1/statuses/${post.id}/favourite`)
      yield* ask(ben, "POST", `/api/v1/statuses/${post.id}/reblog`)
      yield* ask(ben, "POST", "/api/v1/statuses", { status: "@ann hi #birds", in_reply_to_id: post.id })
      yield* ask(ann, "POST", "/api/v1/statuses", { status: "to myself", in_reply_to_id: post.id })
      yield* sql`UPDATE users SET created_at = ${new Date(now - dayMillis)} WHERE account_id = ${ann.accountId}`
      yield* sql`UPDATE users SET created_at = ${new Date(now - 4 * dayMillis)} WHERE account_id = ${ben.accountId}`
      yield* sql`INSERT INTO active_days (day, account_id) VALUES (${day(now - dayMillis)}::date, ${ann.accountId}),
        (${day(now - 5 * dayMillis)}::date, ${ann.accountId})`
      const [tag] = yield* sql<{ id: bigint }>`SELECT id FROM tags WHERE name = 'birds'`
      // A remote account that ben follows, with a post and a report.
      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        VALUES (next_id(${now}), 'zoe', 'sub.far.example', 'https://sub.far.example/zoe', ${new Date(now)}, ${new Date(
        now
      )})`
      yield* sql`INSERT INTO account_stats (account_id, followers_count) SELECT id, 3 FROM accounts WHERE username = 'zoe'`
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        SELECT next_id(${now}), ${ben.accountId}, id, ${new Date(now)} FROM accounts WHERE username = 'zoe'`
      yield* sql`INSERT INTO statuses (id, account_id, local, visibility, conversation_id, language, created_at)
        SELECT next_id(${now}), id, false, 'public', 1, 'de', ${new Date(now)} FROM accounts WHERE username = 'zoe'`
      yield* sql`INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids,
          forward_domains, created_at, action_taken_at)
        SELECT next_id(${now}), ${ann.accountId}, id, 'spam', '', '{}', '{}', '{}', ${new Date(
        now - dayMillis
      )}, ${new Date(now)} FROM accounts WHERE username = 'zoe'`
      const far = { domain: "far.example", include_subdomains: true }
      const { body } = yield* ask(staff, "POST", "/api/v1/admin/measures", {
        keys: [
          "active_users",
          "new_users",
          "interactions",
          "opened_reports",
          "resolved_reports",
          "tag_uses",
          "tag_accounts",
          "tag_servers",
          "instance_accounts",
          "instance_statuses",
          "instance_reports",
          "instance_follows",
          "instance_followers",
          "instance_media_attachments",
          "nonsense"
        ],
        start_at: new Date(now - 2 * dayMillis).toISOString(),
        end_at: day(now),
        tag_uses: { id: String(tag!.id) },
        tag_accounts: { id: String(tag!.id) },
        tag_servers: { id: String(tag!.id) },
        instance_accounts: far,
        instance_statuses: far,
        instance_reports: far,
        instance_follows: far,
        instance_followers: { domain: "far.example" },
        instance_media_attachments: far
      })
      const measures = yield* Schema.decodeUnknownEffect(Schema.Array(AdminMeasure))(body, strict)
      const short = measures.map(({ data, key, previous_total: previous, total }) =>
        `${key} ${total} ${previous ?? "-"} [${data.map(({ value }) => value).join(" ")}]`
      )
      assert.deepStrictEqual(short, [
        "active_users 3 1 [0 1 3]",
        "new_users 2 1 [0 1 1]",
        "interactions 3 0 [0 0 3]",
        "opened_reports 1 0 [0 1 0]",
        "resolved_reports 1 0 [0 0 1]",
        "tag_uses 2 0 [0 0 2]",
        "tag_accounts 2 0 [0 0 2]",
        "tag_servers 1 0 [0 0 1]",
        "instance_accounts 1 - [0 0 1]",
        "instance_statuses 1 - [0 0 1]",
        "instance_reports 1 - [0 0 1]",
        "instance_follows 1 - [0 0 1]",
        "instance_followers 0 - [0 0 0]",
        "instance_media_attachments 0 - [0 0 0]"
      ])
      assert.deepStrictEqual(measures[0]!.data.map(({ date }) => date.slice(0, 10)), [
        day(now - 2 * dayMillis),
        day(now - dayMillis),
        day(now)
      ])
      assert.deepInclude(measures.at(-1), { unit: "bytes", human_value: "0 Bytes" })

      const dimensions = yield* Effect.flatMap(
        ask(staff, "POST", "/api/v1/admin/dimensions", {
          keys: [
            "sources",
            "servers",
            "space_usage",
            "software_versions",
            "tag_servers",
            "tag_languages",
            "instance_accounts",
            "instance_languages",
            "languages"
          ],
          start_at: day(now - 6 * dayMillis),
          end_at: day(now),
          limit: 5,
          tag_servers: { id: String(tag!.id) },
          tag_languages: { id: String(tag!.id) },
          instance_accounts: { domain: "sub.far.example" },
          instance_languages: { domain: "sub.far.example" }
        }),
        (response) => Schema.decodeUnknownEffect(Schema.Array(AdminDimension))(response.body, strict)
      )
      const found = new Map(dimensions.map(({ data, key }) => [key, data.map((one) => `${one.key} ${one.value}`)]))
      assert.deepStrictEqual(found.get("sources"), ["web 3"])
      assert.strictEqual(found.get("servers")?.[1], "sub.far.example 1")
      assert.match(found.get("servers")?.[0] ?? "", /^localhost:\d+ 4$/)
      assert.deepStrictEqual(found.get("instance_accounts"), ["zoe 3"])
      assert.deepStrictEqual(found.get("instance_languages"), ["de 1"])
      assert.strictEqual(dimensions.find(({ key }) => key === "instance_languages")?.data[0]?.human_key, "German")
      assert.strictEqual(found.get("tag_servers")?.length, 1)
      assert.strictEqual(dimensions.find(({ key }) => key === "space_usage")?.data[0]?.unit, "bytes")
      assert.strictEqual(found.get("software_versions")?.length, 2)
    }))

  it.effect("F90: dimensions without a period are those of the last thirty days", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("unbounded", ["viewDashboard"])
      const dimensions = (period: object) =>
        Effect.map(
          ask(staff, "POST", "/api/v1/admin/dimensions", { keys: ["sources", "servers"], ...period }),
          ({ body, status }) => [status, body]
        )
      const now = yield* Clock.currentTimeMillis
      const whole = yield* dimensions({ start_at: day(now - 29 * dayMillis), end_at: day(now) })
      for (const period of [{}, { end_at: day(now) }, { start_at: "", end_at: null }]) {
        assert.deepStrictEqual(yield* dimensions(period), whole)
      }
      assert.deepStrictEqual((yield* dimensions({ start_at: "soon" }))[0], 422)
    }))

  it.effect("retention: of the accounts created on a day, the share active on each later day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const staff = yield* staffMember("keeper", ["viewDashboard"])
      const { createPerson } = yield* TestServer
      for (
        const [name, came, seen] of [["r1", "2026-03-30", "2026-04-02"], ["r2", "2026-03-30", "2026-03-30"], [
          "r3",
          "2026-04-01",
          "2026-04-01"
        ], ["r4", "2026-04-01", null]] as const
      ) {
        const { accountId } = yield* createPerson(name)
        yield* sql`UPDATE users SET created_at = ${new Date(came)}, last_seen_at = ${
          seen === null ? null : new Date(seen)
        }
          WHERE account_id = ${accountId}`
      }
      const of = (frequency: string, start: string, end: string) =>
        Effect.flatMap(
          ask(staff, "POST", "/api/v1/admin/retention", { start_at: start, end_at: end, frequency }),
          ({ body }) => Schema.decodeUnknownEffect(Schema.Array(AdminCohort))(body, strict)
        )
      const short = (cohorts: ReadonlyArray<AdminCohort>) =>
        cohorts.map(({ data, period }) =>
          `${period.slice(0, 10)}: ${data.map(({ rate, value }) => `${value} ${rate}`).join(", ")}`
        )
      assert.deepStrictEqual(short(yield* of("day", "2026-03-30", "2026-04-02")), [
        "2026-03-30: 2 1, 1 0.5, 1 0.5, 1 0.5",
        "2026-03-31: 0 0, 0 0, 0 0",
        "2026-04-01: 1 0.5, 0 0",
        "2026-04-02: 0 0"
      ])
      assert.deepStrictEqual(short(yield* of("month", "2026-03-01", "2026-04-30")), [
        "2026-03-01: 2 1, 1 0.5",
        "2026-04-01: 1 0.5"
      ])
    }))

  it.effect("missing or invalid parameters are reported, and a period is at most a year", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("asker", ["viewDashboard"])
      const told = (path: string, json: unknown) =>
        Effect.map(ask(staff, "POST", `/api/v1/admin/${path}`, json), ({ body, status }) => `${status} ${body.error}`)
      const missing = "400 param is missing or the value is empty or invalid: "
      const period = { start_at: "2026-01-01", end_at: "2026-01-02" }
      for (const path of ["measures", "dimensions"]) assert.strictEqual(yield* told(path, period), `${missing}keys`)
      assert.strictEqual(yield* told("measures", { keys: ["new_users"], end_at: "2026-01-01" }), `${missing}start_at`)
      assert.strictEqual(yield* told("measures", { keys: ["new_users"], start_at: "2026-01-01" }), `${missing}end_at`)
      assert.strictEqual(yield* told("retention", { end_at: "2026-01-01" }), `${missing}start_at`)
      const keys = ["new_users"]
      assert.strictEqual(
        yield* told("measures", { ...period, keys, start_at: "soon" }),
        "422 Validation failed: Start at is invalid"
      )
      assert.strictEqual(
        yield* told("measures", { ...period, keys, end_at: "2025-01-01" }),
        "422 Validation failed: End at must be after its beginning"
      )
      const { body } = yield* ask(staff, "POST", "/api/v1/admin/measures", {
        keys,
        start_at: "1971-01-01",
        end_at: "2026-01-01"
      })
      assert.strictEqual(body[0].data.length, 366)
      const { body: cohorts } = yield* ask(staff, "POST", "/api/v1/admin/retention", {
        start_at: "1971-01-01",
        end_at: "2026-01-01"
      })
      assert.isAtMost(cohorts.length, 62)
    }))
})
