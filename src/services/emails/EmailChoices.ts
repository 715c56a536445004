import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type AccountId, idAt } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { may } from "../staff/Permissions.ts"
import { awayMillis, EmailedType, type EmailList, neededFor, StaffEmail } from "./EmailLists.ts"

/** E-mails that a user chose. */
interface ChosenEmails {
  /** Types of notifications that are e-mailed. */
  readonly types: ReadonlyArray<EmailedType>
  /** E-mails to staff that the user does not want. */
  readonly declined: ReadonlyArray<StaffEmail>
}

const choiceRows = rowsOf(
  Schema.Struct({ types: Schema.NullOr(Schema.Array(Schema.String)), declined: Schema.Array(Schema.String) })
)
const isEmailed = Schema.is(EmailedType)
const isStaffEmail = Schema.is(StaffEmail)

/**
 * E-mails of each user: about notifications, and to staff. Until a user chooses, only reports are e-mailed, to
 * moderators, and all e-mails to staff.
 */
export class EmailChoices extends Context.Service<EmailChoices, {
  /** Returns a user's choices; `permissions` are those of the user's role, on which the defaults depend. */
  readonly of: (account: AccountId, permissions: bigint) => Effect.Effect<ChosenEmails>
  readonly change: (account: AccountId, choices: ChosenEmails) => Effect.Effect<void>
  /** Returns true if the user gets no e-mails of a list any more. */
  readonly isEnded: (account: AccountId, list: EmailList) => Effect.Effect<boolean>
  /** Ends the e-mails of a list. Does nothing for a deleted user. */
  readonly end: (account: AccountId, list: EmailList) => Effect.Effect<void>
  /** Enables e-mails about reports for the moderators who were notified of a report and never chose. */
  readonly enableReports: (reporter: AccountId, reportId: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/emails/EmailChoices") {
  static readonly layer = Layer.effect(
    EmailChoices,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      return EmailChoices.of({
        of: traced("EmailChoices.of")(function*(account, permissions) {
          const [row] = yield* choiceRows(sql`SELECT types, declined FROM email_choices WHERE account_id = ${account}`)
          const reports: ReadonlyArray<EmailedType> = may(permissions, neededFor["admin.report"])
            ? ["admin.report"]
            : []
          return { types: row?.types?.filter(isEmailed) ?? reports, declined: row?.declined.filter(isStaffEmail) ?? [] }
        }, Effect.orDie),
        // Only later notifications are e-mailed.
        change: traced("EmailChoices.change")(function*(account, { declined, types }) {
          const now = yield* Clock.currentTimeMillis
          const due = types.length === 0 ? null : new Date(now + awayMillis)
          yield* sql`INSERT INTO email_choices AS c (account_id, types, declined, seen_at, emailed_id, due_at)
            SELECT account_id, ${types}::text[], ${declined}::text[], ${new Date(now)}, ${
            idAt(now)
          }, ${due}::timestamptz
            FROM users WHERE account_id = ${account}
            ON CONFLICT (account_id) DO UPDATE SET types = excluded.types, declined = excluded.declined,
              seen_at = greatest(c.seen_at, excluded.seen_at), emailed_id = greatest(c.emailed_id, excluded.emailed_id),
              due_at = CASE WHEN excluded.due_at IS NULL THEN NULL ELSE greatest(c.due_at, excluded.due_at) END`
        }, Effect.orDie),
        isEnded: traced("EmailChoices.isEnded")(function*(account, list) {
          const [row] = yield* choiceRows(sql`SELECT types, declined FROM email_choices WHERE account_id = ${account}`)
          return list === "notifications" ? row?.types?.length === 0 : row?.declined.includes(list) === true
        }, Effect.orDie),
        end: traced("EmailChoices.end")(function*(account, list) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const user = sql`SELECT account_id FROM users WHERE account_id = ${account}`
          yield* list === "notifications"
            ? sql`INSERT INTO email_choices (account_id, types, declined, seen_at)
              SELECT account_id, '{}', '{}', ${now} FROM (${user}) u
              ON CONFLICT (account_id) DO UPDATE SET types = '{}', due_at = NULL`
            : sql`INSERT INTO email_choices AS c (account_id, declined, seen_at)
              SELECT account_id, ${[list]}::text[], ${now} FROM (${user}) u
              ON CONFLICT (account_id) DO UPDATE SET declined = array_remove(c.declined, ${list}) || excluded.declined`
        }, Effect.orDie),
        enableReports: traced("EmailChoices.enableReports")(function*(reporter, reportId) {
          const due = new Date((yield* Clock.currentTimeMillis) + awayMillis)
          yield* sql`INSERT INTO email_choices AS c (account_id, types, declined, seen_at, due_at)
            SELECT account_id, ARRAY['admin.report'], '{}', created_at - interval '1 millisecond', ${due}
            FROM notifications
            WHERE from_account_id = ${reporter} AND type = 'admin.report' AND report_id = ${reportId}
            ORDER BY account_id
            ON CONFLICT (account_id) DO UPDATE SET types = excluded.types, due_at = excluded.due_at
              WHERE c.types IS NULL`
        })
      })
    })
  )
}
