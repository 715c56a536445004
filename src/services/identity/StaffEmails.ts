import { Context, Effect, Layer, Option } from "effect"
import type { AccountId } from "../database/Ids.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"
import { Approvals, type Pending } from "./Approvals.ts"

/** E-mails about sign-ups to staff who may decide, and to applicants. */
export class StaffEmails extends Context.Service<StaffEmails, {
  /** Tells staff about a pending sign-up; the e-mails are sent in the background. */
  readonly tellStaffOfSignUp: (accountId: AccountId) => Effect.Effect<void>
  /** Tells the applicant and the staff about a decision. */
  readonly decided: (one: Pending, decision: "approved" | "rejected") => Effect.Effect<void>
}>()("murmuration/services/identity/StaffEmails") {
  static readonly layerNoDeps = Layer.effect(
    StaffEmails,
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const emails = yield* Emails
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const catalogs = yield* UserCatalogs
      return StaffEmails.of({
        tellStaffOfSignUp: traced("StaffEmails.tellStaffOfSignUp")(function*(accountId) {
          const found = yield* Effect.option(approvals.find(accountId))
          if (Option.isNone(found)) return
          const { reason, username } = found.value
          for (const { email: to, locale } of yield* approvals.staff) {
            const words = catalogs.of({ locale: locale ?? undefined })
            yield* emails.enqueue(Effect.map(words, EmailTexts.waiting({ to, server, username, reason })))
          }
        }),
        decided: traced("StaffEmails.decided")(function*({ email, locale, username }, decision) {
          const member = { to: email, server, username }
          const text = decision === "approved"
            ? EmailTexts.approved({ ...member, publicUrl })
            : EmailTexts.rejected(member)
          yield* emails.enqueue(Effect.map(catalogs.of({ locale: locale ?? undefined }), text))
          for (const { email: to, locale } of yield* approvals.staff) {
            const words = catalogs.of({ locale: locale ?? undefined })
            yield* emails.enqueue(Effect.map(words, EmailTexts.decided({ to, server, username, decision })))
          }
        })
      })
    })
  )
  static readonly layer = StaffEmails.layerNoDeps.pipe(Layer.provide([Approvals.layer, UserCatalogs.layer]))
}
