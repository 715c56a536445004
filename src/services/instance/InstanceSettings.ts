import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { type NotAllowed, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import type { DocumentKind } from "./Documents.ts"
import type { InstanceChange } from "./InstanceChange.ts"
import { InstanceDocuments } from "./InstanceDocuments.ts"
import { settingRowsOf } from "./SettingValues.ts"

const valueRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown }))

const accountRows = rowsOf(Schema.Struct({ username: Schema.String }))

const documentKinds: ReadonlyArray<readonly ["privacyPolicy" | "termsOfService", DocumentKind]> = [
  ["privacyPolicy", "privacy_policy"],
  ["termsOfService", "terms_of_service"]
]

/** Changes the server's description and policies; every node is informed. */
export class InstanceSettings extends Context.Service<InstanceSettings, {
  /** Applies a change. `by` is undefined for the command line. */
  readonly change: (
    by: AccountId | undefined,
    change: InstanceChange
  ) => Effect.Effect<void, NotAllowed | Unprocessable>
}>()("murmuration/services/instance/InstanceSettings") {
  static readonly layerNoDeps = Layer.effect(
    InstanceSettings,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const tracked = yield* RowChanges.make
      const documents = yield* InstanceDocuments
      const standing = requirePermission(sql)

      const write = Effect.fnUntraced(
        function*(by: AccountId | undefined, given: InstanceChange) {
          if (by !== undefined) yield* standing(by, "manageSettings")
          const values = yield* settingRowsOf(given)
          const { contactAccount } = given
          if (contactAccount !== undefined && contactAccount !== "") {
            const [found] = yield* accountRows(sql`SELECT a.username FROM accounts a JOIN users u ON u.account_id = a.id
              WHERE lower(a.username) = lower(${contactAccount}) AND a.suspended_at IS NULL`)
            if (found === undefined) return yield* validationFailed("Contact account does not exist")
          }
          const at = new Date(yield* Clock.currentTimeMillis)
          const names = values.map(([name]) => name)
          const old = new Map(
            (yield* valueRows(sql`SELECT name, value FROM settings WHERE name = ANY (${names}::text[]) FOR UPDATE`))
              .map(({ name, value }) => [name, value])
          )
          for (const [name, value] of values) {
            yield* value === undefined
              ? tracked("instance")(sql`DELETE FROM settings WHERE name = ${name}`)
              : tracked("instance")(
                sql`INSERT INTO settings (name, value, updated_at) VALUES (${name}, ${
                  JSON.stringify(value)
                }::jsonb, ${at})
                ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
              )
          }
          const before: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, old.get(name) ?? null]))
          const after: Record<string, unknown> = Object.fromEntries(
            values.map(([name, value]) => [name, value ?? null])
          )
          for (const [key, kind] of documentKinds) {
            const document = given[key]
            if (document === undefined) continue
            const [latest] = yield* documents.versions(kind)
            before[kind] = latest ?? null
            after[kind] = yield* documents.publish(kind, document)
          }
          yield* audit.record({
            by,
            action: "update",
            target: { type: "settings", label: Object.keys(after).join(", ") },
            before,
            after
          })
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )
      return InstanceSettings.of({ change: traced("InstanceSettings.change")(write) })
    })
  )
  static readonly layer = InstanceSettings.layerNoDeps.pipe(
    Layer.provide([AuditLog.layer, InstanceDocuments.layer])
  )
}
