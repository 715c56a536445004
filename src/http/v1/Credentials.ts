import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/AccountActors.ts"
import type { ProfileChange } from "../../actors/account/Protocol.ts"
import { type Unprocessable, validationFailed } from "../../services/Errors.ts"
import { type AccountRecord, Accounts as AccountRecords } from "../../services/identity/Accounts.ts"
import { isLanguageTag } from "../../services/instance/Languages.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { DefaultVisibility } from "../../services/statuses/Visibility.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { CredentialAccount } from "../wire/Account.ts"
import { ProfileUpdate } from "../wire/AccountRequests.ts"
import { ProfilePictures } from "./ProfilePictures.ts"

const path = "/api/v1/accounts/update_credentials"
const update = { payload: ProfileUpdate, success: CredentialAccount }
const removal = { success: CredentialAccount }
const write = Access.user("write", "write:accounts")

/** Changes of the own profile, by PATCH as clients do and by PUT as the specification has it (S-138). */
export class CredentialsGroup extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.patch("update", path, update).annotate(Access, write),
    HttpApiEndpoint.put("updateByPut", path, update).annotate(Access, write),
    HttpApiEndpoint.delete("removeAvatar", "/api/v1/profile/avatar", removal).annotate(Access, write),
    HttpApiEndpoint.delete("removeHeader", "/api/v1/profile/header", removal).annotate(Access, write)
  )
  .middleware(Guard)
{}

const oneOf = Effect.fnUntraced(function*<const A extends string>(
  name: string,
  given: string | null | undefined,
  allowed: ReadonlyArray<A>
) {
  if (given === undefined || given === null || given === "") return undefined
  return allowed.find((one) => one === given) ?? (yield* validationFailed(`${name} is not included in the list`))
})

/** Languages are ISO 639 codes, perhaps with a script or region; the empty text means none. */
const languageOf = Effect.fnUntraced(function*(given: string | null | undefined) {
  if (given === undefined) return undefined
  if (given === null || given === "") return null
  if (!isLanguageTag(given)) {
    return yield* validationFailed("Language is not included in the list")
  }
  return given
})

const fieldsOf = (given: ProfileUpdate["fieldsAttributes"]) =>
  given === undefined
    ? undefined
    : Object.values(given).filter((field) => field !== undefined).map(({ name, value }) => ({
      name: name ?? "",
      value: value ?? ""
    }))

/** Members that the client gave; the others stay as they are. */
const changeOf = Effect.fnUntraced(function*(payload: ProfileUpdate): Effect.fn.Return<ProfileChange, Unprocessable> {
  const source = payload.source || {}
  const given = {
    displayName: payload.displayName ?? (payload.displayName === null ? "" : undefined),
    note: payload.note ?? (payload.note === null ? "" : undefined),
    fields: fieldsOf(payload.fieldsAttributes),
    locked: payload.locked,
    bot: payload.bot,
    discoverable: payload.discoverable,
    indexable: payload.indexable,
    hideCollections: payload.hideCollections,
    avatarDescription: payload.avatarDescription ?? undefined,
    headerDescription: payload.headerDescription ?? undefined,
    attributionDomains: payload.attributionDomains,
    defaultVisibility: yield* oneOf("Privacy", source.privacy, DefaultVisibility.literals),
    defaultSensitive: source.sensitive,
    defaultLanguage: yield* languageOf(source.language),
    defaultQuotePolicy: yield* oneOf("Quote policy", source.quotePolicy, ["public", "followers", "nobody"])
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
})

const namesOf = (record: AccountRecord | undefined) =>
  record === undefined
    ? []
    : [record.avatarName, record.avatarStaticName, record.headerName, record.headerStaticName].filter((name) =>
      name !== null
    )

export const layer = group(
  CredentialsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const views = yield* AccountViews
    const files = yield* StoredFiles
    const pictures = yield* ProfilePictures
    const records = yield* AccountRecords

    const apply = Effect.fnUntraced(function*(change: ProfileChange) {
      const viewer = yield* Caller.account
      const [old] = change.avatar === undefined && change.header === undefined ? [] : yield* records.load([viewer])
      yield* actors.tell(viewer, { _tag: "UpdateProfile", change })
      // Those that the profile still has are held, so they stay.
      yield* files.discard(namesOf(old))
      return Reply.json(yield* views.renderCredentials(viewer))
    })

    const change = traced("credentials.update")(function*({ payload }: { readonly payload: ProfileUpdate }) {
      const words = yield* changeOf(payload)
      const avatar = yield* pictures.make("avatar", payload.avatar)
      const header = yield* pictures.make("header", payload.header)
      return yield* apply({ ...words, ...(avatar && { avatar }), ...(header && { header }) })
    })
    return handlers.handleAll({
      update: change,
      updateByPut: change,
      removeAvatar: traced("credentials.removeAvatar")(() => apply({ avatar: null, avatarDescription: "" })),
      removeHeader: traced("credentials.removeHeader")(() => apply({ header: null, headerDescription: "" }))
    })
  })
).pipe(Layer.provide([AccountViews.layer, ProfilePictures.layer]))
