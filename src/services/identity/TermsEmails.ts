import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { Mailer } from "../emails/Mailer.ts"
import * as TermsTexts from "../emails/TermsTexts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog, type Refusal } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"

/** Recipients per step, and maximum concurrent e-mails. */
const writtenMax = 30
const atOnceMax = 3
/** Duration of a claim, in milliseconds: longer than the e-mails of a step take. */
const claimMillis = 15 * 60_000
/**
 * Pause after a step in which every e-mail failed, in milliseconds, and maximum such steps in a row; then the next
 * recipients follow.
 */
const retryMillis = 10 * 60_000
const triesMax = 144
/** Maximum failed steps for recipients whose e-mail failed while others succeeded: their addresses may be at fault. */
const refusedTriesMax = 3
/** Maximum failed recipients that are tried again. */
const refusedMax = 10_000

const newestRows = rowsOf(Schema.Struct({ id: Schema.BigInt, effectiveOn: Schema.String }))
const Round = Schema.Struct({
  id: Schema.BigInt,
  effectiveOn: Schema.String,
  notice: Schema.String,
  emailedAfter: Schema.BigInt,
  /** End of the claim. */
  emailsDueAt: Timestamptz,
  /** Recipients whose e-mail failed while others succeeded. */
  emailsRefused: Schema.Array(Schema.BigInt),
  emailsTries: Schema.Int
})
type Round = typeof Round.Type
const roundRows = rowsOf(Round)
const peopleRows = rowsOf(
  Schema.Struct({ accountId: Schema.BigInt, email: Schema.String, locale: Schema.NullOr(Schema.String) })
)

/**
 * E-mails about new terms of service to every user: a few per step, each at least once, even if a process is killed.
 * They wait while the mail server is down, and delay no other e-mail.
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
      const mailer = yield* Mailer
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const standing = requirePermission(sql)

      const start = Effect.fnUntraced(
        function*(by: AccountId) {
          yield* standing(by, "manageSettings")
          const [version] = yield* newestRows(sql`SELECT id, effective_on FROM document_versions
            WHERE kind = 'terms_of_service' ORDER BY effective_on DESC LIMIT 1 FOR UPDATE`)
          if (version === undefined) return yield* new RecordNotFound()
          const started = yield* sql`UPDATE document_versions SET emailed_after = 0
            WHERE id = ${version.id} AND emailed_after IS NULL AND emailed_at IS NULL RETURNING id`
          const target = { type: "terms", id: version.id, label: version.effectiveOn } as const
          const act = { by, action: "publish", target } as const
          if (started.length === 0) return yield* new AlreadyDone({ act, refusal: new NotAllowed({}) })
          yield* audit.record(act)
          return version.effectiveOn
        },
        audit.runLogged
      )

      const claim = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const [round] = yield* roundRows(sql`UPDATE document_versions SET emails_due_at = ${new Date(now + claimMillis)}
          WHERE id = (SELECT id FROM document_versions
            WHERE emailed_after IS NOT NULL AND (emails_due_at IS NULL OR emails_due_at <= ${new Date(now)})
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING id, effective_on, notice, emailed_after, emails_due_at, emails_refused, emails_tries`)
        return round
      })

      const people = (which: Fragment) =>
        peopleRows(sql`SELECT u.account_id, u.email, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE ${which} AND u.confirmed_at IS NOT NULL AND u.approved AND NOT a.memorial
          ORDER BY u.account_id LIMIT ${rowsMax(sql, writtenMax)}`)

      /** Sends e-mails; returns the recipients for whom that failed. */
      const write = (
        { effectiveOn: day, notice }: Round,
        receivers: Effect.Success<ReturnType<typeof people>>
      ) =>
        Effect.map(
          Effect.forEach(
            receivers,
            ({ accountId, email: to, locale }) =>
              Effect.flatMap(
                catalogs.of({ locale: locale ?? undefined }),
                (words) =>
                  mailer.send(
                    TermsTexts.newTerms({ to, server, day, notice, address: `${publicUrl}/terms-of-service` })(words)
                  )
              ).pipe(
                Effect.as(undefined),
                Effect.catchTag(
                  "EmailNotSent",
                  ({ message }) =>
                    Effect.as(
                      Effect.logInfo(`an e-mail about terms of service to user ${accountId} was not sent`, message),
                      accountId
                    )
                )
              ),
            { concurrency: atOnceMax }
          ),
          (ids) => ids.filter((id) => id !== undefined)
        )

      const step = Effect.gen(function*() {
        const round = yield* claim
        if (round === undefined) return
        const { emailedAfter, emailsDueAt, emailsRefused, emailsTries, id } = round
        const owned = sql`id = ${id} AND emails_due_at = ${emailsDueAt}`
        const fresh = yield* people(sql`u.account_id > ${emailedAfter}`)
        const retried = emailsRefused.slice(0, writtenMax)
        const receivers = fresh.length > 0 || retried.length === 0
          ? fresh
          : yield* people(sql`u.account_id = ANY (${retried}::bigint[])`)
        const failed = yield* write(round, receivers)
        const at = yield* Clock.currentTimeMillis
        const mayRetryLater = emailsTries < (fresh.length > 0 ? triesMax : refusedTriesMax)
        if (receivers.length > 0 && failed.length === receivers.length && mayRetryLater) {
          return yield* sql`UPDATE document_versions SET emails_due_at = ${new Date(at + retryMillis)},
            emails_tries = emails_tries + 1 WHERE ${owned}`
        }
        const last = fresh.at(-1)
        if (last === undefined && emailsRefused.length === 0) {
          return yield* sql`UPDATE document_versions SET emailed_after = NULL, emailed_at = ${new Date(at)},
            emails_due_at = NULL WHERE ${owned}`
        }
        const refused = last === undefined
          ? emailsRefused.slice(writtenMax)
          : [...emailsRefused, ...failed].slice(0, refusedMax)
        // Failed recipients wait before the first retry.
        const rests = last !== undefined && fresh.length < writtenMax && refused.length > 0
        yield* sql`UPDATE document_versions SET emailed_after = ${last?.accountId ?? emailedAfter}, emails_tries = 0,
          emails_refused = ${refused}::bigint[], emails_due_at = ${rests ? new Date(at + retryMillis) : null}
          WHERE ${owned}`
      }).pipe(Effect.asVoid, Effect.withSpan("TermsEmails.step"))

      return TermsEmails.of({ start: traced("TermsEmails.start")(start), step })
    })
  ).pipe(Layer.provide([AuditLog.layer, UserCatalogs.layer]))
}
