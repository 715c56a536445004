import { Context, Effect, Layer } from "effect"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import type { ProfileChange } from "../../services/identity/ProfileChange.ts"
import { languageTag } from "../../services/instance/Languages.ts"
import type { Focus } from "../../services/media/MediaAttachments.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { type ClientError, type Unprocessable, validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { DefaultVisibility } from "../../services/statuses/Visibility.ts"
import type { ProfileRequest } from "../wire/AccountRequests.ts"
import { ProfilePictures } from "./ProfilePictures.ts"

/** Focal points of uploaded profile pictures; the middle by default. */
type FocalPoints = Readonly<Partial<Record<"avatar" | "header", Focus | undefined>>>

/** Changes the user's own profile: turns a request into a command of the account. */
export class ProfileChanges extends Context.Service<ProfileChanges, {
  /** Applies a request; `points` are those that uploaded pictures are cropped around. */
  readonly apply: (owner: AccountId, given: ProfileRequest, points?: FocalPoints) => Effect.Effect<void, ClientError>
  readonly removePicture: (owner: AccountId, kind: "avatar" | "header") => Effect.Effect<void, ClientError>
}>()("murmuration/http/v1/ProfileChanges") {
  static readonly layer = Layer.effect(
    ProfileChanges,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const actors = yield* AccountActors
      const files = yield* StoredFiles
      const pictures = yield* ProfilePictures

      const tell = Effect.fnUntraced(function*(owner: AccountId, change: ProfileChange) {
        const [old] = change.avatar === undefined && change.header === undefined ? [] : yield* accounts.load([owner])
        yield* actors.tell(owner, { _tag: "UpdateProfile", change })
        // `discard` keeps files that the profile still uses.
        yield* files.discard(namesOf(old))
      })
      return ProfileChanges.of({
        apply: traced("ProfileChanges.apply")(function*(owner, given, points) {
          const words = yield* changeOf(given)
          const avatar = yield* pictures.make("avatar", given.avatar, points?.avatar)
          const header = yield* pictures.make("header", given.header, points?.header)
          yield* tell(owner, { ...words, ...(avatar && { avatar }), ...(header && { header }) })
        }),
        removePicture: traced("ProfileChanges.removePicture")((owner, kind) =>
          tell(
            owner,
            kind === "avatar" ? { avatar: null, avatarDescription: "" } : { header: null, headerDescription: "" }
          )
        )
      })
    })
  ).pipe(Layer.provide(ProfilePictures.layer))
}

const oneOf = Effect.fnUntraced(function*<const A extends string>(
  name: string,
  given: string | null | undefined,
  allowed: ReadonlyArray<A>
) {
  if (given === undefined || given === null || given === "") return undefined
  return allowed.find((one) => one === given) ?? (yield* validationFailed(`${name} is not included in the list`))
})

/** Parses an ISO 639 code with an optional script or region. Empty text or null means no language. */
const languageOf = Effect.fnUntraced(function*(given: string | null | undefined) {
  if (given === undefined) return undefined
  if (given === null || given === "") return null
  return languageTag(given) ?? (yield* validationFailed("Language is not included in the list"))
})

const fieldsOf = (given: ProfileRequest["fieldsAttributes"]) =>
  given === undefined
    ? undefined
    : Object.values(given).filter((field) => field !== undefined).map(({ name, value }) => ({
      name: name ?? "",
      value: value ?? ""
    }))

/** Returns the profile fields that the client sent; omitted fields stay unchanged. */
const changeOf = Effect.fnUntraced(
  function*(payload: ProfileRequest): Effect.fn.Return<ProfileChange, Unprocessable> {
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
      emailSubscriptions: payload.emailSubscriptions,
      defaultVisibility: yield* oneOf("Privacy", source.privacy, DefaultVisibility.literals),
      defaultSensitive: source.sensitive,
      defaultLanguage: yield* languageOf(source.language),
      defaultQuotePolicy: yield* oneOf("Quote policy", source.quotePolicy, ["public", "followers", "nobody"]),
      showMedia: payload.showMedia,
      showMediaReplies: payload.showMediaReplies,
      showFeatured: payload.showFeatured
    }
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  }
)

const namesOf = (record: AccountRecord | undefined) =>
  record === undefined
    ? []
    : [record.avatarName, record.avatarStaticName, record.headerName, record.headerStaticName].filter((name) =>
      name !== null
    )
