import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import { Settings } from "../../services/identity/Settings.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { Profile } from "../wire/Account.ts"
import { id } from "../wire/Common.ts"
import { type JsonOf, list, withMembers } from "../wire/Keys.ts"
import { FeaturedTagViews } from "./FeaturedTagViews.ts"

/** The user's own profile for editing: source texts besides their rendered form. */
export class ProfileViews extends Context.Service<ProfileViews, {
  readonly of: (owner: AccountId) => Effect.Effect<JsonOf<Profile>, RecordNotFound>
}>()("murmuration/http/render/ProfileViews") {
  static readonly layer = Layer.effect(
    ProfileViews,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const config = yield* ServerConfig
      const settings = yield* Settings
      const tags = yield* FeaturedTagViews

      const of = traced("ProfileViews.of")(function*(owner: AccountId) {
        const record = (yield* accounts.load([owner])).find((one) => one.id === owner)
        if (record === undefined) return yield* new RecordNotFound()
        const set = yield* settings.of(owner)
        const { avatar, avatarStatic, header, headerStatic } = picturesOf(config, record)
        const [hasAvatar, hasHeader] = [record.avatarName !== null, record.headerName !== null]
        return withMembers<Profile, "featuredTags">({
          id: id(owner),
          displayName: record.displayName,
          note: set.note,
          fields: set.fields.map(({ name, value, verifiedAt }) => ({ name, value, verifiedAt })),
          formattedNote: record.noteHtml,
          formattedFields: record.fields.map(({ html, name, verifiedAt }) => ({ name, value: html, verifiedAt })),
          avatar: hasAvatar ? avatar : null,
          avatarStatic: hasAvatar ? avatarStatic : null,
          avatarDescription: record.avatarDescription,
          header: hasHeader ? header : null,
          headerStatic: hasHeader ? headerStatic : null,
          headerDescription: record.headerDescription,
          locked: record.locked,
          bot: record.bot,
          hideCollections: record.hideCollections,
          discoverable: record.discoverable,
          indexable: record.indexable,
          showMedia: record.showMedia,
          showMediaReplies: record.showMediaReplies,
          showFeatured: record.showFeatured,
          attributionDomains: set.attributionDomains
        }, { featuredTags: list(yield* tags.of(owner)) })
      })
      return ProfileViews.of({ of })
    })
  ).pipe(Layer.provide(FeaturedTagViews.layer))
}
