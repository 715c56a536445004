import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { givenEmail } from "../../services/identity/RegistrationRules.ts"
import { SignUps } from "../../services/identity/SignUps.ts"
import { SignUpBlocks } from "../../services/moderation/SignUpBlocks.ts"
import { Apps } from "../../services/oauth/Apps.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import { Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { tokenJson } from "../oauth/TokenJson.ts"
import { SignUp } from "../wire/SignUpRequests.ts"
import { Token } from "../wire/Token.ts"

export class SignUpsGroup extends HttpApiGroup.make("signUps")
  .add(
    HttpApiEndpoint.post("signUp", "/api/v1/accounts", { payload: SignUp, success: Token })
      .annotate(Access, Access.limited(Access.open(Access.app("write", "write:accounts")), "signUp"))
  )
  .middleware(Guard)
{}

/** Sign-up through an app (S-100, S-130, S-131). The token is valid at once, the user after confirming the address. */
export const layer = group(
  SignUpsGroup,
  Effect.fn(function*(handlers) {
    const apps = yield* Apps
    const blocks = yield* SignUpBlocks
    const signUps = yield* SignUps
    const tokens = yield* Tokens
    return handlers.handleAll({
      signUp: traced("signUps.signUp")(function*({ payload }) {
        const { appId } = yield* Caller
        const app = appId === undefined ? undefined : Option.getOrUndefined(yield* apps.find(appId))
        if (app === undefined) return yield* new Unauthorized({ reason: "invalid" })
        const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        const email = givenEmail(payload.email ?? "")
        const verdict = yield* blocks.judge({
          username: payload.username ?? "",
          email,
          address: Option.getOrUndefined(remoteAddress),
          invited: Boolean(payload.inviteCode)
        })
        const accountId = yield* signUps.signUp(app, {
          verdict,
          username: payload.username ?? "",
          email,
          password: Redacted.make(payload.password ?? ""),
          agreement: payload.agreement === true,
          locale: payload.locale || undefined,
          timeZone: payload.timeZone || undefined,
          reason: payload.reason || undefined,
          inviteCode: payload.inviteCode || undefined,
          dateOfBirth: payload.dateOfBirth || undefined
        })
        return Reply.json(tokenJson(yield* tokens.issue({ appId: app.id, accountId }, app.scopes)))
      })
    })
  })
)
