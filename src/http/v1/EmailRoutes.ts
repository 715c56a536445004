import { Effect, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as EmailAddresses from "../../services/identity/EmailAddresses.ts"
import { MailLinks } from "../../services/identity/MailLinks.ts"
import { refusal, requireEmail } from "../../services/identity/RegistrationRules.ts"
import { Users } from "../../services/identity/Users.ts"
import { SignUpBlocks } from "../../services/moderation/SignUpBlocks.ts"
import { NotAllowed, Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { Limits } from "../guard/Limits.ts"
import * as Reply from "../guard/Reply.ts"
import { encode } from "../wire/Keys.ts"
import { Confirmation } from "../wire/SignUpRequests.ts"

export class EmailsGroup extends HttpApiGroup.make("emails")
  .add(
    HttpApiEndpoint.post("confirmations", "/api/v1/emails/confirmations", {
      payload: Confirmation,
      success: Schema.Struct({})
    }).annotate(
      Access,
      Access.limited(Access.unconfirmed(Access.user("write", "write:accounts")), "confirmationUser")
    ),
    HttpApiEndpoint.get("checkConfirmation", "/api/v1/emails/check_confirmation", { success: Schema.Boolean })
      .annotate(Access, Access.unconfirmed(Access.user("read", "read:accounts")))
  )
  .middleware(Guard)
{}

/** Resends the e-mail that confirms an address (S-133). */
export const layer = group(
  EmailsGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* SignUpBlocks
    const limits = yield* Limits
    const mailLinks = yield* MailLinks
    const users = yield* Users

    const own = Effect.flatMap(Caller.account, users.find).pipe(
      Effect.flatMap(Option.match({
        onNone: () => Effect.fail(new Unauthorized({ reason: "invalid" })),
        onSome: Effect.succeed
      }))
    )

    return handlers.handleAll({
      confirmations: traced("emails.confirmations")(function*({ payload }) {
        const { address, appId } = yield* Caller
        const user = yield* own
        const key = EmailAddresses.limitKey(payload.email ?? user.email)
        yield* limits.spend([
          { limit: "confirmationAddress", key: address },
          ...(key === undefined ? [] : [{ limit: "mailEmail" as const, key }])
        ])
        if (user.createdByAppId === undefined || user.createdByAppId !== appId) {
          return yield* new NotAllowed({
            text: "This method is only available to the application the user originally signed-up with"
          })
        }
        if (user.confirmed && user.unconfirmedEmail === undefined) {
          return yield* new NotAllowed({
            text: "This method is only available while the e-mail is awaiting confirmation"
          })
        }
        if (payload.email) {
          const email = yield* requireEmail(payload.email)
          const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
          const { needsApproval, problems } = yield* blocks.ofEmail(email, Option.getOrUndefined(remoteAddress))
          if (problems.length > 0) return yield* refusal(problems)
          yield* users.change(
            user.accountId,
            user.confirmed ? { unconfirmedEmail: email } : { email, ...(needsApproval && { approved: false }) }
          )
        }
        yield* mailLinks.sendConfirmation(yield* own)
        return Reply.empty
      }),
      checkConfirmation: traced("emails.checkConfirmation")(function*() {
        const user = yield* own
        return Reply.json(encode<boolean>(user.confirmed && user.unconfirmedEmail === undefined))
      })
    })
  })
)
