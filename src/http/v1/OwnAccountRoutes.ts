import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnCredentials } from "../../services/credentials/OwnCredentials.ts"
import { missingParameter } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { MoveFollowers } from "../../services/social/MoveFollowers.ts"
import { Moves } from "../../services/social/Moves.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account, CredentialAccount } from "../wire/Account.ts"
import { id as wireId, idOrNull, timestamp } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { Move, MoveFollowersQuery } from "../wire/Move.ts"
import {
  AccountAliases,
  AccountDeletion,
  AccountMove,
  EmailChange,
  OwnUser,
  PasswordChange
} from "../wire/OwnAccountRequests.ts"
import * as AccountListPages from "./AccountListPages.ts"
import * as OwnAccountCommands from "./OwnAccountCommands.ts"

const write = Access.user("write", "write:accounts")
/** Access to endpoints that require the password again; it can be guessed ten times in half an hour. */
const guarded = Access.limited(write, "secondFactorUser")
/** Access of members to their move: their account has moved. */
const readsMoves = Access.moved(Access.user("read", "read:accounts"))
const movePath = "/api/v1/accounts/move"
const moveFollowersPath = `${movePath}/followers` as const
const nothing = Schema.Struct({})
const accepted = { status: 202 } as const

/**
 * Endpoints for a member's own account, at GoToSocial's paths: deletion, password, address, aliases and move. The lists of
 * a move's followers are of this server.
 */
export class OwnAccountGroup extends HttpApiGroup.make("ownAccount")
  .add(
    HttpApiEndpoint.post("remove", "/api/v1/accounts/delete", { payload: AccountDeletion, success: nothing })
      .annotate(Access, guarded),
    HttpApiEndpoint.post("changePassword", "/api/v1/user/password_change", {
      payload: PasswordChange,
      success: nothing
    })
      .annotate(Access, guarded),
    HttpApiEndpoint.post("changeEmail", "/api/v1/user/email_change", { payload: EmailChange, success: OwnUser })
      .annotate(Access, Access.limited(write, "secondFactorUser", "confirmationUser")),
    HttpApiEndpoint.post("alias", "/api/v1/accounts/alias", { payload: AccountAliases, success: CredentialAccount })
      .annotate(Access, Access.limited(write, "accountLookups")),
    HttpApiEndpoint.post("move", movePath, { payload: AccountMove, success: nothing })
      .annotate(Access, Access.limited(write, "secondFactorUser", "accountLookups")),
    HttpApiEndpoint.get("moves", movePath, { success: Schema.Array(Move) }).annotate(Access, readsMoves),
    HttpApiEndpoint.get("moveFollowers", moveFollowersPath, {
      query: MoveFollowersQuery,
      success: Schema.Array(Account)
    }).annotate(Access, readsMoves)
  )
  .middleware(Guard)
{}

/** Returns a parameter that must be there. */
const required = (name: string, value: string | null | undefined) =>
  value === null || value === undefined || value === "" ? missingParameter(name) : Effect.succeed(value)

export const layer = group(
  OwnAccountGroup,
  Effect.fn(function*(handlers) {
    const commands = yield* OwnAccountCommands.make
    const credentials = yield* OwnCredentials
    const views = yield* AccountViews
    const moveFollowers = yield* MoveFollowers
    const page = yield* AccountListPages.make
    const secret = (name: string, value: string | null | undefined) =>
      Effect.map(required(name, value), (text) => Redacted.make(text))

    return handlers.handleAll({
      remove: traced("ownAccount.remove")(function*({ payload }) {
        yield* commands.remove(yield* Caller.account, yield* secret("password", payload.password))
        return Reply.json(json<Record<never, never>>({}), accepted)
      }),
      changePassword: traced("ownAccount.changePassword")(function*({ payload }) {
        const [old, password] = [
          yield* secret("old_password", payload.oldPassword),
          yield* secret("new_password", payload.newPassword)
        ]
        yield* credentials.changePassword(yield* Caller.account, old, password)
        return Reply.empty
      }),
      changeEmail: traced("ownAccount.changeEmail")(function*({ payload }) {
        const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        const { accountId, approved, disabled, email, unconfirmedEmail } = yield* credentials.changeEmail(
          yield* Caller.account,
          yield* secret("password", payload.password),
          yield* required("new_email", payload.newEmail),
          Option.getOrUndefined(remoteAddress)
        )
        const id = String(accountId)
        return Reply.json(
          json<OwnUser>({ id, email, unconfirmedEmail: unconfirmedEmail ?? null, approved, disabled }),
          accepted
        )
      }),
      alias: traced("ownAccount.alias")(function*({ payload }) {
        const owner = yield* Caller.account
        yield* commands.setAliases(owner, payload.alsoKnownAsUris ?? [])
        return Reply.json(yield* views.renderCredentials(owner))
      }),
      move: traced("ownAccount.move")(function*({ payload }) {
        yield* commands.move(
          yield* Caller.account,
          yield* secret("password", payload.password),
          yield* required("moved_to_uri", payload.movedToUri)
        )
        return Reply.json(json<Record<never, never>>({}), accepted)
      }),
      moves: traced("ownAccount.moves")(function*() {
        const all = yield* moveFollowers.overview(yield* Caller.account)
        return Reply.list(all.map(({ accountId, came, movedAt, movedToId, stayed, targetUri }) =>
          json<Move>({
            accountId: wireId(accountId),
            movedToId: idOrNull(movedToId),
            movedToUri: targetUri,
            movedAt: timestamp(movedAt),
            cameCount: came,
            stayedCount: stayed
          })
        ))
      }),
      moveFollowers: traced("ownAccount.moveFollowers")(function*({ query }) {
        const owner = yield* Caller.account
        const { accountId = owner, came = true } = query
        const keep = { came, ...(query.accountId !== undefined && { ["account_id"]: String(accountId) }) }
        return yield* page(
          moveFollowersPath,
          query,
          (asked) => moveFollowers.page(owner, { from: accountId, came }, asked),
          keep
        )
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, MoveFollowers.layer, Moves.layer, OwnCredentials.layer]))
