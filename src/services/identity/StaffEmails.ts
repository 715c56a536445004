import { Context, Effect, Layer, Option, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import type { Email } from "../emails/Mailer.ts"
import { UnsubscribeLinks } from "../emails/UnsubscribeLinks.ts"
import { withUnsubscribe } from "../emails/UnsubscribeTexts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"
import { Approvals, DecidedSignUp } from "./Approvals.ts"

const decodeDecided = Schema.decodeUnknownOption(DecidedSignUp)

/** E-mails about sign-ups to staff who may decide, and to applicants. */
export class StaffEmails extends Context.Service<StaffEmails, {
  /** Returns the e-mails to staff about a pending sign-up. */
  readonly aboutSignUp: (accountId: bigint) => Effect.Effect<ReadonlyArray<Email>, SqlError>
  /** Returns the e-mails about a decision, as `Approvals` promises them, to the applicant and the staff. */
  readonly aboutDecision: (details: unknown) => Effect.Effect<ReadonlyArray<Email>, SqlError>
}>()("murmuration/services/identity/StaffEmails") {
  static readonly layer = Layer.effect(
    StaffEmails,
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const catalogs = yield* UserCatalogs
      const links = yield* UnsubscribeLinks

      const toStaff = (text: (to: string) => EmailTexts.EmailFor) =>
        Effect.flatMap(
          approvals.staff,
          Effect.forEach(({ accountId, email, locale }) =>
            Effect.map(
              catalogs.of({ locale: locale ?? undefined }),
              (words) => withUnsubscribe(text(email)(words), words, links.make("sign_ups", accountId))
            )
          )
        )

      return StaffEmails.of({
        aboutSignUp: traced("StaffEmails.aboutSignUp")(function*(accountId) {
          const found = yield* Effect.option(approvals.find(AccountId.make(accountId)))
          if (Option.isNone(found)) return []
          const { reason, username } = found.value
          const address = `${publicUrl}/admin/accounts/${accountId}`
          return yield* toStaff((to) => EmailTexts.waiting({ to, server, username, reason, address }))
        }),
        aboutDecision: traced("StaffEmails.aboutDecision")(function*(details) {
          const decided = decodeDecided(details)
          if (Option.isNone(decided)) return []
          const { decision, email, locale, username } = decided.value
          const member = { to: email, server, username }
          const words = yield* catalogs.of({ locale: locale ?? undefined })
          const text = decision === "approved"
            ? EmailTexts.approved({ ...member, publicUrl })
            : EmailTexts.rejected(member)
          return [text(words), ...(yield* toStaff((to) => EmailTexts.decided({ to, server, username, decision })))]
        })
      })
    })
  ).pipe(Layer.provide([Approvals.layer, UnsubscribeLinks.layer, UserCatalogs.layer]))
}
