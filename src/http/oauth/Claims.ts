import { Effect, Option } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { millisOf } from "../../services/database/Ids.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Apps } from "../../services/oauth/Apps.ts"
import { RecordNotFound, Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { accountValues } from "../render/AccountValues.ts"
import { json } from "../wire/Keys.ts"
import { TokenInfo, UserInfo } from "../wire/OAuth.ts"

export class ClaimsGroup extends HttpApiGroup.make("oauthClaims")
  .add(
    HttpApiEndpoint.get("tokenInfo", "/oauth/token/info", { success: TokenInfo })
      .annotate(Access, Access.unconfirmed(Access.appOrUser())),
    HttpApiEndpoint.get("userInfo", "/oauth/userinfo", { success: UserInfo }).annotate(Access, Access.user("profile")),
    HttpApiEndpoint.post("postUserInfo", "/oauth/userinfo", { success: UserInfo })
      .annotate(Access, Access.user("profile"))
  )
  .middleware(Guard)
{}

/** Information for a bearer about its own token and user (S-248). */
export const layer = group(
  ClaimsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const apps = yield* Apps
    const config = yield* ServerConfig

    const userInfo = traced("oauthClaims.userInfo")(function*() {
      const [record] = yield* accounts.load([yield* Caller.account])
      if (record === undefined) return yield* new RecordNotFound()
      const account = accountValues(config, record, [])
      return Reply.json(json<UserInfo>({
        iss: `${config.publicUrl}/`,
        sub: account.uri,
        name: account.displayName || account.username,
        preferredUsername: account.username,
        profile: account.url,
        picture: account.avatar
      }))
    })

    return handlers.handleAll({
      tokenInfo: traced("oauthClaims.tokenInfo")(function*() {
        const { appId, scopes, tokenId, viewer } = yield* Caller
        if (tokenId === undefined) return yield* new Unauthorized({ reason: "invalid" })
        const app = appId === undefined ? Option.none() : yield* apps.find(appId)
        return Reply.json(json<TokenInfo>({
          resourceOwnerId: viewer ?? null,
          scope: [...scopes],
          expiresIn: null,
          // A token from the operator's command line belongs to no app.
          application: { uid: Option.isSome(app) ? app.value.clientId : "" },
          createdAt: Math.floor(millisOf(tokenId) / 1000)
        }))
      }),
      userInfo,
      postUserInfo: userInfo
    })
  })
)
