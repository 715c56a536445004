import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { ProfileViews } from "../render/ProfileViews.ts"
import { CredentialAccount, Profile } from "../wire/Account.ts"
import { CredentialsUpdate, type ProfileRequest, ProfileUpdate } from "../wire/AccountRequests.ts"
import { ProfileChanges } from "./ProfileChanges.ts"

const path = "/api/v1/accounts/update_credentials"
const profilePath = "/api/v1/profile"
const update = { payload: CredentialsUpdate, success: CredentialAccount }
const profileUpdate = { payload: ProfileUpdate, success: Profile }
const removal = { success: CredentialAccount }
const read = Access.user("profile", "read", "read:accounts")
const write = Access.user("write", "write:accounts")

/** The user's own profile. Changes by PATCH, as clients send them, and by PUT, as the specification says (S-138). */
export class CredentialsGroup extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.patch("update", path, update).annotate(Access, write),
    HttpApiEndpoint.put("updateByPut", path, update).annotate(Access, write),
    HttpApiEndpoint.get("profile", profilePath, { success: Profile }).annotate(Access, read),
    HttpApiEndpoint.patch("updateProfile", profilePath, profileUpdate).annotate(Access, write),
    HttpApiEndpoint.put("updateProfileByPut", profilePath, profileUpdate).annotate(Access, write),
    HttpApiEndpoint.delete("removeAvatar", `${profilePath}/avatar`, removal).annotate(Access, write),
    HttpApiEndpoint.delete("removeHeader", `${profilePath}/header`, removal).annotate(Access, write)
  )
  .middleware(Guard)
{}

export const layer = group(
  CredentialsGroup,
  Effect.fn(function*(handlers) {
    const changes = yield* ProfileChanges
    const credentials = yield* AccountViews
    const profiles = yield* ProfileViews

    const show = Effect.gen(function*() {
      return Reply.json(yield* profiles.of(yield* Caller.account))
    })
    const change = traced("credentials.update")(function*({ payload }: { readonly payload: ProfileRequest }) {
      const owner = yield* Caller.account
      yield* changes.apply(owner, payload)
      return Reply.json(yield* credentials.renderCredentials(owner))
    })
    const changeProfile = traced("credentials.updateProfile")(
      function*({ payload }: { readonly payload: ProfileRequest }) {
        yield* changes.apply(yield* Caller.account, payload)
        return yield* show
      }
    )
    const remove = (kind: "avatar" | "header") =>
      traced(`credentials.remove ${kind}`)(function*() {
        const owner = yield* Caller.account
        yield* changes.removePicture(owner, kind)
        return Reply.json(yield* credentials.renderCredentials(owner))
      })
    return handlers.handleAll({
      update: change,
      updateByPut: change,
      profile: traced("credentials.profile")(() => show),
      updateProfile: changeProfile,
      updateProfileByPut: changeProfile,
      removeAvatar: remove("avatar"),
      removeHeader: remove("header")
    })
  })
).pipe(Layer.provide([AccountViews.layer, ProfileChanges.layer, ProfileViews.layer]))
