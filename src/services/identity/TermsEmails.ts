import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { Mailer } from "../emails/Mailer.ts"
import * as TermsTexts from "../emails/TermsTexts.ts"
import { NotAllowed, RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { AuditLog, LostAct, type Refusal } from "../staff/AuditLog.ts"
import { standingOf } from "../staff/Rank.ts"
import { traced } from "../Traced.ts"

/** Recipients per slice, maximum concurrent e-mails, and maximum slices per step. */
const sliceMax = 30
const atOnceMax = 3
const slicesMax = 20
/** Lease of a slice, longer than sending it takes, and pause before a retry; both in milliseconds. */
const claimMillis = 15 * 60_000
const restMillis = 10 * 60_000
/** Maximum retries for recipients whose e-mail failed, and maximum of such recipients. */
const triesMax = 12
const failedMax = 10_000

const Version = Schema.Struct({
  id: Schema.BigInt,
  effectiveOn: Schema.String,
  notice: Schema.String,
  emailedAfter: Schema.NullOr(Schema.BigInt),
  /** End of the lease. */
  dueAt: Schema.NullOr(Timestamptz),
  failedIds: Schema.Array(Schema.BigInt),
  /** Passes over the recipients whose e-mail failed. */
  tries: Schema.Int
})
type Version = typeof Version.Type
const versionRows = rowsOf(Version)
const Person = Schema.Struct({ accountId: Schema.BigInt, email: Schema.String, locale: Schema.NullOr(Schema.String) })
type Person = typeof Person.Type
const peopleRows = rowsOf(Person)

/**
 * E-mails about new terms of service to all users, each at least once. One node at a time sends a slice; after a crash
 * its lease ends and the slice is sent again. While the mail server is down, e-mails wait. An address that it refuses
 * does not block others.
 */
export class TermsEmails extends Context.Service<TermsEmails, {
  /** Starts the e-mails about the newest version, once. Returns the date from which it applies. */
  readonly start: (by: AccountId) => Effect.Effect<string, Refusal>
  /** Sends e-mails to the next recipients, if any, up to the limits of one step. */
  readonly step: Effect.Effect<void, SqlError>
}>()("murmuration/services/identity/TermsEmails") {
  static readonly layer = Layer.effect(
    TermsEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const catalogs = yield* UserCatalogs
      const mailer = yield* Mailer
      const columns = sql.literal(
        "id, effective_on, notice, emailed_after, email_due_at AS due_at, " +
          "email_failed_ids AS failed_ids, email_tries AS tries"
      )
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const standing = standingOf(sql)

      const start = Effect.fnUntraced(
        function*(by: AccountId) {
          yield* standing(by, "manageSettings")
          const [version] = yield* versionRows(sql`SELECT ${columns} FROM document_versions
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

      const claim = Effect.fnUntraced(function*(now: number) {
        const [version] = yield* versionRows(
          sql`UPDATE document_versions SET email_due_at = ${new Date(
            now + claimMillis
          )} WHERE id = (SELECT id FROM document_versions
            WHERE emailed_after IS NOT NULL AND (email_due_at IS NULL OR email_due_at <= ${new Date(now)})
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING ${columns}`
        )
        return version
      })

      const peopleOf = ({ emailedAfter, failedIds, tries }: Version) =>
        peopleRows(sql`SELECT u.account_id, u.email, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE u.account_id > ${emailedAfter} AND u.confirmed_at IS NOT NULL AND u.approved AND NOT a.memorial
            AND (${tries} = 0 OR u.account_id = ANY (${failedIds}::bigint[]))
          ORDER BY u.account_id LIMIT ${sliceMax}`)

      /** Returns true if the e-mail was sent. */
      const send = ({ effectiveOn: day, notice }: Version, { accountId, email: to, locale }: Person) =>
        Effect.flatMap(
          catalogs.of({ locale: locale ?? undefined }),
          (words) =>
            mailer.send(
              TermsTexts.newTerms({ to, server, day, notice, address: `${publicUrl}/terms-of-service` })(words)
            )
        )
          .pipe(
            Effect.as(true),
            Effect.catchTag(
              "EmailNotSent",
              ({ message }) =>
                Effect.as(
                  Effect.logInfo(`the e-mail about new terms to account ${accountId} was not sent`, message),
                  false
                )
            )
          )

      /** Writes the outcome of a slice, if the lease still is this one. */
      const advance = ({ dueAt, id }: Version, change: Fragment) =>
        sql`UPDATE document_versions SET ${change} WHERE id = ${id} AND email_due_at = ${dueAt}`

      /** Sends one slice; false if there is none, or the next one has to wait. */
      const slice = Effect.gen(function*() {
        const version = yield* claim(yield* Clock.currentTimeMillis)
        if (version === undefined) return false
        const people = yield* peopleOf(version)
        const done = yield* Effect.forEach(people, (person) => send(version, person), { concurrency: atOnceMax })
        const now = yield* Clock.currentTimeMillis
        const later = new Date(now + restMillis)
        const failed = people.flatMap(({ accountId }, place) => done[place] === true ? [] : [accountId])
        const last = people.at(-1)
        if (last === undefined) {
          const again = version.failedIds.length > 0 && version.tries < triesMax
          yield* advance(
            version,
            again
              ? sql`emailed_after = 0, email_tries = email_tries + 1, email_due_at = ${later}`
              : sql`emailed_after = NULL, emailed_at = ${new Date(now)}, email_failed_ids = '{}'`
          )
          return true
        }
        // The mail server is probably down.
        if (failed.length === sliceMax) {
          yield* advance(version, sql`email_due_at = ${later}`)
          return false
        }
        const seen = new Set(people.map(({ accountId }) => accountId))
        const failedIds = [...version.failedIds.filter((id) => !seen.has(id)), ...failed].slice(0, failedMax)
        yield* advance(
          version,
          sql`emailed_after = ${last.accountId}, email_failed_ids = ${failedIds}::bigint[], email_due_at = ${new Date(
            now
          )}`
        )
        return true
      })

      const step = Effect.gen(function*() {
        for (let slices = 0; slices < slicesMax; slices++) if (!(yield* slice)) return
      }).pipe(Effect.withSpan("TermsEmails.step"))

      return TermsEmails.of({ start: traced("TermsEmails.start")(start), step })
    })
  ).pipe(Layer.provide([AuditLog.layer, UserCatalogs.layer]))
}
