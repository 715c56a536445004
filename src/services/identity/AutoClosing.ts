import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { idRows } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import { InstancePolicies } from "../instance/InstancePolicies.ts"
import { InstanceSettings } from "../instance/InstanceSettings.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { defaultRole, givenBits, permissions } from "../staff/Permissions.ts"
import { staffWith } from "./Staff.ts"

/** Time that registrations stay open without an active moderator, in milliseconds. */
const unattendedMillisMax = 7 * 24 * 3_600_000
const deciding = permissions.manageUsers | permissions.administrator

/** Closes open registrations of an unattended server. */
export class AutoClosing extends Context.Service<AutoClosing, {
  /** Requires approval of sign-ups if staff enabled that and no moderator was active for a week. E-mails the staff. */
  readonly run: Effect.Effect<void>
}>()("murmuration/services/identity/AutoClosing") {
  static readonly layerNoDeps = Layer.effect(
    AutoClosing,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* Emails
      const catalogs = yield* UserCatalogs
      const policies = yield* InstancePolicies
      const settings = yield* InstanceSettings
      const { localDomain: server } = yield* ServerConfig

      const run = Effect.gen(function*() {
        const { autoClose, registrations } = yield* policies.current
        if (!autoClose || registrations !== "open") return
        const since = new Date((yield* Clock.currentTimeMillis) - unattendedMillisMax)
        const activeStaff = yield* idRows(sql`SELECT u.account_id AS id FROM users u
          JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${defaultRole}
          WHERE ((${sql.literal(givenBits)} | e.permissions) & ${deciding}) <> 0 AND u.last_seen_at > ${since} LIMIT 1`)
        if (activeStaff.length > 0) return
        yield* settings.change(undefined, { registrations: "approval" })
        for (const { email: to, locale } of yield* staffWith(sql, "manageUsers")) {
          const words = catalogs.of({ locale: locale ?? undefined })
          yield* emails.enqueue(Effect.map(words, EmailTexts.registrationsClosed({ to, server })))
        }
      })
      return AutoClosing.of({ run: run.pipe(Effect.orDie, Effect.withSpan("AutoClosing.run")) })
    })
  )
  static readonly layer = AutoClosing.layerNoDeps.pipe(Layer.provide([InstanceSettings.layer, UserCatalogs.layer]))
}
