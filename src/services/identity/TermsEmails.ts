import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Emails } from "../emails/Emails.ts"
import * as TermsTexts from "../emails/TermsTexts.ts"
import { NotAllowed, RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { rowsOf } from "../Rows.ts"
import { AuditLog, LostAct, type Refusal } from "../staff/AuditLog.ts"
import { standingOf } from "../staff/Rank.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"

/** Recipients per step. */
const writtenMax = 100

const versionRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  effectiveOn: Schema.String,
  notice: Schema.String,
  emailedAfter: Schema.NullOr(Schema.BigInt)
}))
const peopleRows = rowsOf(
  Schema.Struct({ accountId: Schema.BigInt, email: Schema.String, locale: Schema.NullOr(Schema.String) })
)

/**
 * E-mails about new terms of service to all users, in batches. A step that is repeated after a failure sends its
 * e-mails again.
 */
export class TermsEmails extends Context.Service<TermsEmails, {
  /** Starts the e-mails about the newest version, once. Returns the date from which it applies. */
  readonly start: (by: AccountId) => Effect.Effect<string, Refusal>
  /** Queues e-mails to the next recipients, if any; only one node at a time does it. */
  readonly step: Effect.Effect<void, SqlError>
}>()("murmuration/services/identity/TermsEmails") {
  static readonly layer = Layer.effect(
    TermsEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const catalogs = yield* UserCatalogs
      const emails = yield* Emails
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const standing = standingOf(sql)

      const start = Effect.fnUntraced(
        function*(by: AccountId) {
          yield* standing(by, "manageSettings")
          const [version] = yield* versionRows(sql`SELECT id, effective_on, notice, emailed_after FROM document_versions
            WHERE kind = 'terms_of_service' ORDER BY effective_on DESC LIMIT 1 FOR UPDATE`)
          if (version === undefined) return yield* new RecordNotFound()
          const begun = yield* sql`UPDATE document_versions SET emailed_after = 0
            WHERE id = ${version.id} AND emailed_after IS NULL AND emailed_at IS NULL RETURNING id`
          const target = { type: "terms", id: version.id, label: version.effectiveOn } as const
          const act = { by, action: "publish", target } as const
          if (begun.length === 0) return yield* new LostAct({ act, refusal: new NotAllowed({}) })
          yield* audit.record(act)
          return version.effectiveOn
        },
        audit.deciding
      )

      const step = Effect.gen(function*() {
        const [version] = yield* versionRows(sql`SELECT id, effective_on, notice, emailed_after FROM document_versions
          WHERE emailed_after IS NOT NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`)
        if (version === undefined) return
        const { effectiveOn: day, id, notice } = version
        const people = yield* peopleRows(sql`SELECT u.account_id, u.email, u.locale FROM users u
          JOIN accounts a ON a.id = u.account_id
          WHERE u.account_id > ${version.emailedAfter} AND u.confirmed_at IS NOT NULL AND u.approved AND NOT a.memorial
          ORDER BY u.account_id LIMIT ${writtenMax}`)
        const address = `${publicUrl}/terms-of-service`
        for (const { email: to, locale } of people) {
          const words = catalogs.of({ locale: locale ?? undefined })
          yield* emails.post(Effect.map(words, TermsTexts.newTerms({ to, server, day, notice, address })))
        }
        const last = people.at(-1)
        const at = new Date(yield* Clock.currentTimeMillis)
        yield* last === undefined
          ? sql`UPDATE document_versions SET emailed_after = NULL, emailed_at = ${at} WHERE id = ${id}`
          : sql`UPDATE document_versions SET emailed_after = ${last.accountId} WHERE id = ${id}`
      }).pipe(transaction(sql), Effect.withSpan("TermsEmails.step"))

      return TermsEmails.of({ start: traced("TermsEmails.start")(start), step })
    })
  ).pipe(Layer.provide([AuditLog.layer, UserCatalogs.layer]))
}
