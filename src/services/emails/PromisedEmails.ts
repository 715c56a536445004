import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { lockBound } from "../database/BoundedTables.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, TraceParent } from "../runtime/TraceParents.ts"
import type { Email } from "./Mailer.ts"

/** Eight tries within a day. */
const emailBackoff: Backoff.Backoff = {
  baseMillis: 60_000,
  growth: { factor: 4 },
  jitter: 0,
  capMillis: 6 * 3_600_000,
  triesMax: 8
}
/** Lease of a claimed row, in milliseconds; longer than one try takes. */
const claimMillis = 5 * 60_000
/** Maximum waiting promises of one kind; further ones are dropped. */
export const promisesMax = 10_000
/** Waiting written e-mails from which promises wait before they are written out. */
const writtenMax = 1_000

/**
 * Reasons of promised e-mails, by subject: a strike, an appeal that was filed or decided, a sign-up that waits for
 * staff or was decided, a new member, and unread notifications of an account.
 */
const PromiseKind = Schema.Literals([
  "strike",
  "appeal_filed",
  "appeal_decided",
  "sign_up",
  "sign_up_decided",
  "welcome",
  "notifications"
])
export type PromiseKind = typeof PromiseKind.Type

/** An e-mail written out to its recipient. */
const WrittenEmail = Schema.Struct({
  to: Schema.String,
  subject: Schema.String,
  text: Schema.String,
  html: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
const isWritten = Schema.is(WrittenEmail)

const PromisedEmail = Schema.Struct({
  id: Schema.BigInt,
  kind: Schema.Union([PromiseKind, Schema.Literal("email")]),
  subjectId: Schema.BigInt,
  details: Schema.Unknown,
  /** End of the claim. */
  dueAt: Timestamptz,
  tries: Schema.Int,
  traceParent: TraceParent
})
export type PromisedEmail = typeof PromisedEmail.Type
const promisedRows = rowsOf(PromisedEmail)

/**
 * Durable queue of e-mails that a committed act promises. The act writes a promise in its transaction; later the promise
 * is replaced by one row for each recipient, and each row is deleted when its e-mail was sent.
 */
export class PromisedEmails extends Context.Service<PromisedEmails, {
  /** Adds a promise in the current transaction. `details` are facts that the subject's rows may lose. */
  readonly promise: (kind: PromiseKind, subjectId: bigint, details?: object) => Effect.Effect<void, SqlError>
  /** Claims up to `max` due rows until their `dueAt`. Drops rows whose last try ended with its process. */
  readonly claim: (max: number) => Effect.Effect<ReadonlyArray<PromisedEmail>, SqlError>
  /** Replaces a claimed promise by its e-mails, unless another node claimed it in the meantime. */
  readonly write: (promised: PromisedEmail, emails: ReadonlyArray<Email>) => Effect.Effect<void, SqlError>
  /** Deletes a row whose e-mail was sent. */
  readonly complete: (promised: PromisedEmail) => Effect.Effect<void, SqlError>
  /** Schedules a retry, or drops the row after the last try. */
  readonly retry: (promised: PromisedEmail) => Effect.Effect<void, SqlError>
}>()("murmuration/services/emails/PromisedEmails") {
  static readonly layer = Layer.effect(
    PromisedEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const claimedAs = ({ dueAt, id }: PromisedEmail) => sql`id = ${id} AND due_at = ${dueAt}`
      const remove = (promised: PromisedEmail) =>
        sql`DELETE FROM promised_emails WHERE ${claimedAs(promised)} RETURNING id`

      const promise = traced("PromisedEmails.promise")(
        function*(kind: PromiseKind, subjectId: bigint, details?: object) {
          yield* lockBound(sql, `promised_emails of kind ${kind}`)
          const rows = yield* sql`INSERT INTO promised_emails (kind, subject_id, details, due_at, trace_parent)
          SELECT ${kind}, ${subjectId}, ${details === undefined ? null : JSON.stringify(details)}::jsonb, ${yield* now},
            ${yield* currentTraceParent}::text
          WHERE NOT EXISTS (SELECT FROM promised_emails WHERE kind = ${kind} OFFSET ${rowsMax(sql, promisesMax - 1)})
          RETURNING id`
          if (rows.length === 0) yield* Effect.logWarning(`too many e-mails of kind ${kind} wait; one was dropped`)
        }
      )

      const claim = traced("PromisedEmails.claim")(function*(max: number) {
        const at = yield* now
        const dropped = yield* sql`DELETE FROM promised_emails
          WHERE due_at <= ${at} AND tries >= ${emailBackoff.triesMax} RETURNING id`
        if (dropped.length > 0) {
          yield* Effect.logWarning(`${dropped.length} e-mails were given up: their last try did not end`)
        }
        return yield* promisedRows(sql`
          UPDATE promised_emails SET tries = tries + 1, due_at = ${new Date(at.getTime() + claimMillis)}
          WHERE id IN (SELECT id FROM promised_emails
            WHERE due_at <= ${at} AND (kind = 'email' OR kind = ANY (${PromiseKind.literals}) AND NOT EXISTS (
              SELECT FROM promised_emails WHERE kind = 'email' OFFSET ${rowsMax(sql, writtenMax - 1)}))
            ORDER BY due_at LIMIT ${rowsMax(sql, max)} FOR UPDATE SKIP LOCKED)
          RETURNING id, kind, subject_id, details, due_at, tries, trace_parent`)
      })

      const write = traced("PromisedEmails.write")(
        function*(promised: PromisedEmail, emails: ReadonlyArray<Email>) {
          if ((yield* remove(promised)).length === 0 || emails.length === 0) return
          yield* sql`INSERT INTO promised_emails (kind, subject_id, details, due_at, trace_parent)
            SELECT 'email', ${promised.subjectId}, details, ${yield* now}, ${yield* currentTraceParent}::text
            FROM jsonb_array_elements(${JSON.stringify(emails)}::jsonb) details`
        },
        transaction(sql)
      )

      return PromisedEmails.of({
        promise,
        claim,
        write,
        complete: traced("PromisedEmails.complete")((promised) => Effect.asVoid(remove(promised))),
        retry: traced("PromisedEmails.retry")(function*(promised) {
          const delay = yield* Backoff.next(emailBackoff, promised.tries)
          if (delay === undefined) {
            yield* Effect.logWarning(`an e-mail of kind ${promised.kind} was given up after ${promised.tries} tries`)
            return yield* Effect.asVoid(remove(promised))
          }
          const dueAt = new Date((yield* now).getTime() + delay)
          yield* sql`UPDATE promised_emails SET due_at = ${dueAt} WHERE ${claimedAs(promised)}`
        })
      })
    })
  )
}

/** Returns the e-mail of a row of kind "email". */
export const writtenEmail = ({ details }: PromisedEmail): Email | undefined => isWritten(details) ? details : undefined
