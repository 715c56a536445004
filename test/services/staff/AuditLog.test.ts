import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../../src/services/staff/AuditLog.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(AuditLog.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("AuditLog", (it) => {
  it.effect("stores texts unchanged, also with anything like an escape, and removes NULs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const target = { type: "settings", label: "settings" } as const
      for (const text of ["\\u0000", "a\0b", "\\\\u0000", "\"\0\"", "\\"]) {
        yield* log.record({ by: undefined, action: "update", target, after: { text } })
        const [recorded] = yield* sql<
          { text: string }
        >`SELECT after ->> 'text' AS text FROM audit_log ORDER BY id DESC LIMIT 1`
        assert.strictEqual(recorded?.text, text.replaceAll("\0", ""))
      }
    }))

  it.effect("allows no changes of its rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      yield* log.record({ by: undefined, action: "update", target: { type: "settings", label: "settings" } })
      for (const change of ["UPDATE audit_log SET action = 'other'", "DELETE FROM audit_log"]) {
        assert.strictEqual((yield* Effect.flip(sql.unsafe(change)))._tag, "SqlError")
      }
    }))
})
