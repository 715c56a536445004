import { Schema } from "effect"
import { Visibility } from "../../services/statuses/Visibility.ts"
import { Count, Day, Html, Id, Timestamp, Url } from "./Common.ts"
import { CustomEmoji } from "./CustomEmoji.ts"
import { encode, type JsonOf } from "./Keys.ts"
import { AccountRole, Role } from "./Role.ts"
import { FeaturedTag } from "./Tag.ts"

/** `value` is HTML, or plain text inside `source`. */
const Field = Schema.Struct({ name: Schema.String, value: Html, verified_at: Schema.NullOr(Timestamp) })
type Field = typeof Field.Type

const FeatureApproval = Schema.Struct({
  automatic: Schema.Array(Schema.String),
  manual: Schema.Array(Schema.String),
  current_user: Schema.Literals(["automatic", "manual", "denied", "missing", "unknown"])
})

const fields = {
  id: Id,
  username: Schema.String,
  acct: Schema.String,
  display_name: Schema.String,
  locked: Schema.Boolean,
  bot: Schema.Boolean,
  discoverable: Schema.NullOr(Schema.Boolean),
  indexable: Schema.Boolean,
  group: Schema.Boolean,
  created_at: Timestamp,
  note: Html,
  url: Url,
  uri: Url,
  avatar: Url,
  avatar_static: Url,
  avatar_description: Schema.String,
  header: Url,
  header_static: Url,
  header_description: Schema.String,
  followers_count: Count,
  following_count: Count,
  statuses_count: Count,
  last_status_at: Schema.NullOr(Day),
  hide_collections: Schema.NullOr(Schema.Boolean),
  show_media: Schema.Boolean,
  show_media_replies: Schema.Boolean,
  show_featured: Schema.Boolean,
  emojis: Schema.Array(CustomEmoji),
  fields: Schema.Array(Field),
  feature_approval: FeatureApproval,
  /** Local accounts only. */
  noindex: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** Local accounts and highlighted roles only. */
  roles: Schema.optionalKey(Schema.Array(AccountRole)),
  suspended: Schema.optionalKey(Schema.Literal(true)),
  limited: Schema.optionalKey(Schema.Literal(true)),
  memorial: Schema.optionalKey(Schema.Literal(true)),
  /** Remote accounts whose handle is not confirmed by its domain; `username` is the account's id (4.7). */
  invalid_handle: Schema.optionalKey(Schema.Literal(true)),
  /** True if anyone may get the public posts by e-mail; absent if the server does not allow it. */
  email_subscriptions: Schema.optionalKey(Schema.Boolean)
}

/** The account that another one moved to; it has no `moved` of its own. */
const Moved = Schema.Struct(fields).annotate({ identifier: "MovedAccount" })

export const Account = Schema.Struct({ ...fields, moved: Schema.optionalKey(Moved) }).annotate({
  identifier: "Account"
})
export type Account = typeof Account.Type

/** Fields that only the owner sees: source texts, and defaults of new posts. */
export const Source = Schema.Struct({
  privacy: Visibility,
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String),
  note: Schema.String,
  fields: Schema.Array(Field),
  follow_requests_count: Count,
  hide_collections: Schema.NullOr(Schema.Boolean),
  discoverable: Schema.NullOr(Schema.Boolean),
  indexable: Schema.Boolean,
  attribution_domains: Schema.Array(Schema.String),
  quote_policy: Schema.Literals(["public", "followers", "nobody"])
})
export type Source = typeof Source.Type

export const CredentialAccount = Schema.Struct({
  ...Account.fields,
  source: Source,
  role: Role,
  follow_requests_count: Count
}).annotate({ identifier: "CredentialAccount" })
export type CredentialAccount = typeof CredentialAccount.Type

/** The user's own profile for editing (4.6): source texts, and pictures or null. */
export const Profile = Schema.Struct({
  id: Id,
  display_name: Schema.String,
  note: Schema.String,
  fields: Schema.Array(Field),
  formatted_note: Html,
  formatted_fields: Schema.Array(Field),
  avatar: Schema.NullOr(Url),
  avatar_static: Schema.NullOr(Url),
  avatar_description: Schema.String,
  header: Schema.NullOr(Url),
  header_static: Schema.NullOr(Url),
  header_description: Schema.String,
  locked: Schema.Boolean,
  bot: Schema.Boolean,
  hide_collections: Schema.NullOr(Schema.Boolean),
  discoverable: Schema.NullOr(Schema.Boolean),
  indexable: Schema.Boolean,
  show_media: Schema.Boolean,
  show_media_replies: Schema.Boolean,
  show_featured: Schema.Boolean,
  attribution_domains: Schema.Array(Schema.String),
  featured_tags: Schema.Array(FeaturedTag)
}).annotate({ identifier: "Profile" })
export type Profile = typeof Profile.Type

export const MutedAccount = Schema.Struct({ ...Account.fields, mute_expires_at: Schema.NullOr(Timestamp) })
  .annotate({ identifier: "MutedAccount" })
export type MutedAccount = typeof MutedAccount.Type

export const PartialAccountWithAvatar = Schema.Struct({
  id: Id,
  acct: Schema.String,
  locked: Schema.Boolean,
  bot: Schema.Boolean,
  url: Url,
  avatar: Url,
  avatar_static: Url,
  avatar_description: Schema.String
}).annotate({ identifier: "PartialAccountWithAvatar" })
export type PartialAccountWithAvatar = typeof PartialAccountWithAvatar.Type

/** Reduces an account's JSON to what an avatar needs. */
export const partialAccount = (account: JsonOf<Account>): JsonOf<PartialAccountWithAvatar> => {
  const { acct, avatar, avatar_description, avatar_static, bot, id, locked, url }: Account = JSON.parse(account)
  return encode<PartialAccountWithAvatar>({ id, acct, locked, bot, url, avatar, avatar_static, avatar_description })
}

export const FamiliarFollowers = Schema.Struct({ id: Id, accounts: Schema.Array(Account) })
  .annotate({ identifier: "FamiliarFollowers" })
export type FamiliarFollowers = typeof FamiliarFollowers.Type
