import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const at = new Date(Date.UTC(2024, 1))

layer(servers, { excludeTestServices: true })("moderation of a Mastodon server", (it) => {
  it.effect("keeps reports, strikes, appeals and staff notes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const { insert } = from
      const bert = yield* from.person(idOf(11), "bert")
      const cora = yield* from.person(idOf(12), "cora")
      const zoe = yield* from.stranger(idOf(13), "zoe")
      yield* insert("accounts", { id: -99n, username: "mastodon.internal" })
      yield* insert("statuses", {
        id: idOf(20),
        accountId: zoe.id,
        local: false,
        uri: "https://far.example/posts/20",
        text: "<p>old, but reported</p>"
      })
      const report = (id: bigint, more: object) => ({ id, accountId: bert.id, targetAccountId: zoe.id, ...more })
      yield* insert(
        "reports",
        report(1n, {
          category: 1_000,
          comment: "spam",
          statusIds: [idOf(20)],
          forwarded: true,
          uri: "https://local.example/r1"
        }),
        report(2n, {
          category: 2_000,
          ruleIds: [1n],
          targetAccountId: cora.id,
          accountId: -99n,
          actionTakenAt: at,
          actionTakenByAccountId: bert.id
        }),
        report(3n, { category: 7 }),
        report(4n, { targetAccountId: 777n })
      )
      yield* insert("report_notes", { id: 1n, reportId: 1n, accountId: bert.id, content: "seen" }, {
        id: 2n,
        reportId: 4n,
        accountId: bert.id,
        content: "x"
      })
      yield* insert("account_moderation_notes", {
        id: 1n,
        accountId: 777n,
        targetAccountId: cora.id,
        content: "warned"
      })
      yield* insert("instance_moderation_notes", {
        id: 1n,
        domain: "Far.example",
        accountId: bert.id,
        content: "watch"
      })
      const strike = (id: bigint, more: object) => ({ id, accountId: bert.id, targetAccountId: cora.id, ...more })
      yield* insert(
        "account_warnings",
        strike(1n, { action: 1_500, text: "removed", statusIds: [String(idOf(21))], reportId: 2n }),
        strike(2n, { action: 0, text: "note" }),
        strike(3n, { action: 5 })
      )
      yield* insert("appeals", { id: 1n, accountId: cora.id, accountWarningId: 1n, text: "sorry" }, {
        id: 2n,
        accountId: cora.id,
        accountWarningId: 3n,
        text: "x"
      })
      yield* insert("account_warning_presets", { id: 1n, title: "Spam", text: "No advertising" })
      yield* transferred(from, "copy")
      assert.deepStrictEqual(
        yield* rejected(from),
        ["appeals 2", "notes about reports 2", "reports 3", "reports 4", "strikes 3"]
      )
      assert.deepStrictEqual(
        yield* sql`SELECT id, account_id, category, status_ids, rule_ids, forward_domains, action_taken_by_account_id AS by FROM reports
          ORDER BY id`,
        [
          {
            id: 1n,
            accountId: bert.id,
            category: "spam",
            statusIds: [idOf(20)],
            ruleIds: [],
            forwardDomains: ["far.example"],
            by: null
          },
          {
            id: 2n,
            accountId: null,
            category: "violation",
            statusIds: [],
            ruleIds: [1n],
            forwardDomains: [],
            by: bert.id
          }
        ]
      )
      assert.deepStrictEqual(yield* sql`SELECT id FROM statuses WHERE id = ${idOf(20)}`, [{ id: idOf(20) }])
      assert.deepStrictEqual(
        yield* sql`SELECT account_id, target_account_id, report_id, content FROM moderation_notes ORDER BY id`,
        [
          { accountId: bert.id, targetAccountId: null, reportId: 1n, content: "seen" },
          { accountId: null, targetAccountId: cora.id, reportId: null, content: "warned" }
        ]
      )
      assert.deepStrictEqual(yield* sql`SELECT domain, content FROM instance_notes`, [
        { domain: "far.example", content: "watch" }
      ])
      assert.deepStrictEqual(
        yield* sql`SELECT w.id, w.action, w.report_id, p.state FROM account_warnings w
          LEFT JOIN appeals p ON p.account_warning_id = w.id ORDER BY w.id`,
        [
          { id: 1n, action: "delete_statuses", reportId: 2n, state: "pending" },
          { id: 2n, action: "none", reportId: null, state: null }
        ]
      )
      assert.deepStrictEqual(yield* sql`SELECT id, title, text FROM warning_presets`, [
        { id: 1n, title: "Spam", text: "No advertising" }
      ])
      yield* from
        .sql`UPDATE appeals SET approved_at = ${at}, approved_by_account_id = ${bert.id}, updated_at = ${new Date()}`
      yield* from.sql`UPDATE reports SET action_taken_at = ${at}, updated_at = ${new Date()} WHERE id = 1`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* sql`SELECT state, decided_by_account_id AS by FROM appeals`, [
        { state: "approved", by: bert.id }
      ])
      assert.deepStrictEqual(yield* sql`SELECT FROM reports WHERE action_taken_at IS NULL`, [])
    }))
})
