import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import { Broadcast } from "../events/Broadcast.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { NotificationWriter } from "../feeds/NotificationWriter.ts"
import { NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog, type Refusal } from "../staff/AuditLog.ts"
import { requirePermission, requireRank } from "../staff/Rank.ts"
import { type Addressee, staffWith } from "./Staff.ts"

/** A sign-up that awaits approval. */
const Pending = Schema.Struct({
  accountId: AccountId,
  username: Schema.String,
  email: Schema.String,
  confirmed: Schema.Boolean,
  locale: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  createdAt: Timestamptz
})
export type Pending = typeof Pending.Type
/** Decision about a sign-up, for the e-mails about it: the account of a rejected one is deleted. */
export const DecidedSignUp = Schema.Struct({
  decision: Schema.Literals(["approved", "rejected"]),
  username: Schema.String,
  email: Schema.String,
  locale: Schema.NullOr(Schema.String)
})
const pendingRows = rowsOf(Pending)

/** Maximum pending sign-ups in a list. */
export const pendingMax = 1_000

type Decided = typeof DecidedSignUp.Type

/** Approval of sign-ups by moderators (auth.md section 7). Each sign-up is decided once. */
export class Approvals extends Context.Service<Approvals, {
  /** Pending sign-ups, oldest first. */
  readonly pending: Effect.Effect<ReadonlyArray<Pending>>
  readonly find: (accountId: AccountId) => Effect.Effect<Pending, RecordNotFound>
  /**
   * Approves a sign-up, as a moderator or as the operator. Fails with `NotAllowed` if it is not pending, for example
   * because a colleague has decided it.
   */
  readonly approve: (
    accountId: AccountId,
    by?: AccountId
  ) => Effect.Effect<Pending, Refusal>
  /** Removes the account, which is still unused; its username can be taken again. */
  readonly reject: (
    accountId: AccountId,
    by?: AccountId
  ) => Effect.Effect<Pending, Refusal>
  /** Staff who may decide about sign-ups. */
  readonly staff: Effect.Effect<ReadonlyArray<Addressee>>
}>()("murmuration/services/identity/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const tracked = yield* RowChanges.make
      const log = yield* AuditLog
      const emails = yield* PromisedEmails
      const writer = yield* NotificationWriter
      const standing = requirePermission(sql)
      const rank = requireRank(sql)

      const waiting = (only: ReturnType<typeof sql.and>) =>
        pendingRows(
          sql`
            SELECT u.account_id, a.username, u.email, u.confirmed_at IS NOT NULL AS confirmed, u.locale, u.reason, u.created_at
            FROM users u JOIN accounts a ON a.id = u.account_id WHERE NOT u.approved AND ${only}
            ORDER BY u.created_at, u.account_id LIMIT ${pendingMax}`
        )
      const find = Effect.fnUntraced(function*(accountId: AccountId) {
        const [one] = yield* Effect.orDie(waiting(sql`u.account_id = ${accountId}`))
        return one ?? (yield* new RecordNotFound())
      })

      /**
       * Fails because a colleague has decided: `NotAllowed` for an approved account, RecordNotFound for a rejected one.
       */
      const decidedByColleague = Effect.fnUntraced(
        function*(accountId: AccountId, by: AccountId | undefined, action: "approve" | "reject") {
          const account = yield* Effect.orDie(sql`SELECT FROM accounts WHERE id = ${accountId}`)
          return yield* new AlreadyDone({
            act: { by, action, target: { type: "account", id: accountId, label: `#${accountId}` } },
            refusal: account.length === 0 ? new RecordNotFound() : new NotAllowed({})
          })
        }
      )

      /** Runs `statement`, which decides about a pending sign-up and returns a row, and returns the sign-up. */
      const decide = Effect.fnUntraced(
        function*(
          accountId: AccountId,
          by: AccountId | undefined,
          action: "approve" | "reject",
          statement: Effect.Effect<ReadonlyArray<unknown>, unknown>
        ) {
          // Approval and rejection write different rows; this lock makes the second decision see the first.
          yield* sql`SELECT FROM users WHERE account_id = ${accountId} FOR UPDATE`
          if (by !== undefined) yield* rank(yield* standing(by, "manageUsers"), accountId)
          const one = yield* Effect.catchTag(
            find(accountId),
            "RecordNotFound",
            () => decidedByColleague(accountId, by, action)
          )
          if ((yield* Effect.orDie(statement)).length === 0) return yield* new RecordNotFound()
          yield* log.record({ by, action, target: { type: "account", id: accountId, label: one.username } })
          const { email, locale, username } = one
          const decision = action === "approve" ? "approved" : "rejected"
          yield* emails.promise("sign_up_decided", accountId, { decision, username, email, locale } satisfies Decided)
          if (action === "approve" && one.confirmed) yield* writer.notifyStaff("admin.sign_up", accountId, 0n)
          return one
        },
        log.runLogged
      )

      return Approvals.of({
        pending: Effect.orDie(waiting(sql`TRUE`)).pipe(Effect.withSpan("Approvals.pending")),
        find: traced("Approvals.find")(find),
        approve: traced("Approvals.approve")(function*(accountId, by) {
          const one = yield* decide(
            accountId,
            by,
            "approve",
            tracked("user", [accountId])(
              sql`UPDATE users SET approved = true WHERE account_id = ${accountId} AND NOT approved RETURNING 1`
            )
          )
          return one
        }),
        reject: traced("Approvals.reject")(function*(accountId, by) {
          const one = yield* decide(
            accountId,
            by,
            "reject",
            tracked("account", [accountId])(
              sql`DELETE FROM accounts WHERE id = ${accountId} AND EXISTS (SELECT FROM users u
              WHERE u.account_id = ${accountId} AND NOT u.approved) AND NOT EXISTS (SELECT FROM statuses s
              WHERE s.account_id = ${accountId}) RETURNING 1`
            )
          )
          yield* broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [accountId] })
          return one
        }),
        staff: staffWith(sql, "manageUsers", "sign_ups").pipe(
          Effect.orDie,
          Effect.withSpan("Approvals.staff")
        )
      })
    })
  ).pipe(Layer.provide([AuditLog.layer, NotificationWriter.layer, PromisedEmails.layer]))
}
