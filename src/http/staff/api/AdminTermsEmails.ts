import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { TermsEmails } from "../../../services/identity/TermsEmails.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { json } from "../../wire/Keys.ts"
import { AnnouncedTerms } from "../wire/AdminSettingsJson.ts"

export class AdminTermsEmailsGroup extends HttpApiGroup.make("admin/termsEmails")
  .add(
    HttpApiEndpoint.post("start", "/api/v1/admin/terms_of_service/emails", { success: AnnouncedTerms })
      .annotate(Access, Access.staff("manageSettings", "admin:write"))
  )
  .middleware(Guard)
{}

/** Starts the e-mails to all users about the newest terms of service. Mastodon has only a web page for it. */
export const layer = group(
  AdminTermsEmailsGroup,
  Effect.fn(function*(handlers) {
    const emails = yield* TermsEmails
    return handlers.handleAll({
      start: traced("admin.termsEmails.start")(function*() {
        const effectiveDate = yield* emails.start(yield* Caller.account)
        return Reply.json(json<AnnouncedTerms>({ effectiveDate }))
      })
    })
  })
).pipe(Layer.provide(TermsEmails.layer))
