import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AuditEntry } from "../../../../src/http/staff/wire/AuditEntry.ts"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/audit_log"

layer(TestServer.layer(), { excludeTestServices: true })("the audit log in the API", (it) => {
  it.effect("S-252: lists actions of staff with actor, target, before and after; by page, by filter and as a file", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const reader = yield* staffMember("reader", ["viewAuditLog"])
      const by = yield* staffMember("author", ["manageRules", "manageSettings"])
      const { body: rule } = yield* ask(by, "POST", "/api/v1/admin/rules", { text: "=1+1, \"kind\"" })
      yield* ask(by, "PUT", `/api/v1/admin/rules/${rule.id}`, { hint: "Two\nlines" })
      yield* ask(by, "PATCH", "/api/v1/admin/settings", { site_title: "Logged" })
      const { body: all } = yield* ask(reader, "GET", path)
      yield* Schema.decodeUnknownEffect(Schema.Array(AuditEntry))(all, { onExcessProperty: "error" })
      assert.deepStrictEqual(
        all.map((one: AuditEntry) => [one.username, one.target_type, one.action]),
        [["author", "settings", "update"], ["author", "rule", "update"], ["author", "rule", "create"]]
      )
      assert.deepInclude(all[1], {
        account_id: String(by.accountId),
        target_id: rule.id,
        target_label: "=1+1, \"kind\""
      })
      assert.deepInclude(all[1].before, { hint: "" })
      assert.deepInclude(all[1].after, { hint: "Two\nlines" })
      const count = (query: string) => Effect.map(ask(reader, "GET", `${path}?${query}`), ({ body }) => body.length)
      assert.strictEqual(yield* count("target_type=rule"), 2)
      assert.strictEqual(yield* count(`target_type=rule&target_id=${rule.id}&action=create`), 1)
      assert.strictEqual(yield* count(`account_id=${reader.accountId}`), 0)
      const paged = yield* ask(reader, "GET", `${path}?limit=1&target_type=rule`)
      assert.include(paged.headers.get("link") ?? "", `limit=1&target_type=rule&max_id=${paged.body[0].id}`)
      const file = yield* fetch(`${path}.csv?target_type=rule&action=create`, { token: reader.token })
      assert.deepStrictEqual(
        [file.headers.get("content-type"), file.headers.get("content-disposition")],
        ["text/csv; charset=utf-8", "attachment; filename=\"audit_log.csv\""]
      )
      const lines = (yield* Effect.promise(() => file.text())).split("\r\n")
      assert.lengthOf(lines, 3)
      assert.strictEqual(
        lines[0],
        "id,created_at,account_id,username,action,target_type,target_id,target_label,before,after"
      )
      assert.include(lines[1] ?? "", `,author,create,rule,${rule.id},"'=1+1, ""kind""",,`)
      assert.strictEqual((yield* ask(by, "GET", path)).status, 403)
    }))
})
