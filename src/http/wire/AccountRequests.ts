import { Schema } from "effect"
import { FileTicket } from "./MediaRequests.ts"
import { Flag, hash, Integer, list, Text } from "./Params.ts"

/** `POST /api/v1/accounts/:id/follow` */
export const Follow = Schema.Struct({
  reblogs: Schema.optionalKey(Flag),
  notify: Schema.optionalKey(Flag),
  languages: Schema.optionalKey(list(Schema.String))
})

/** `POST /api/v1/follows`; `uri` is `name@domain`. */
export const RemoteFollow = Schema.Struct({ uri: Schema.optionalKey(Text) })

/** Mute parameters beyond Mastodon's, which the instance document lists. */
export const muteExtensions = ["replies"] as const

/** `POST /api/v1/accounts/:id/mute`; `duration` in seconds. `replies` lets mentions in replies to the muter through. */
export const Mute = Schema.Struct({
  [muteExtensions[0]]: Schema.optionalKey(Flag),
  notifications: Schema.optionalKey(Flag),
  duration: Schema.optionalKey(Integer)
})

/** `POST /api/v1/accounts/:id/email_subscriptions` */
export const EmailSubscription = Schema.Struct({ email: Schema.optionalKey(Schema.NullOr(Text)) })

const Field = Schema.Struct({
  name: Schema.optionalKey(Schema.NullOr(Text)),
  value: Schema.optionalKey(Schema.NullOr(Text))
})
const Source = Schema.Struct({
  privacy: Schema.optionalKey(Schema.NullOr(Text)),
  sensitive: Schema.optionalKey(Flag),
  language: Schema.optionalKey(Schema.NullOr(Text)),
  quotePolicy: Schema.optionalKey(Schema.NullOr(Text))
}).pipe(Schema.encodeKeys({ quotePolicy: "quote_policy" }))

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)

const profile = {
  displayName: text,
  note: text,
  locked: flag,
  bot: flag,
  discoverable: flag,
  indexable: flag,
  hideCollections: flag,
  avatar: Schema.optionalKey(FileTicket),
  header: Schema.optionalKey(FileTicket),
  avatarDescription: text,
  headerDescription: text,
  attributionDomains: Schema.optionalKey(list(Schema.String)),
  emailSubscriptions: flag,
  fieldsAttributes: Schema.optionalKey(
    hash(Schema.Union([Schema.Array(hash(Field)), Schema.Record(Schema.String, hash(Field))]))
  )
}
const profileKeys = {
  displayName: "display_name",
  hideCollections: "hide_collections",
  avatarDescription: "avatar_description",
  headerDescription: "header_description",
  attributionDomains: "attribution_domains",
  emailSubscriptions: "email_subscriptions",
  fieldsAttributes: "fields_attributes"
} as const
const defaults = { source: Schema.optionalKey(hash(Source)) }
const display = { showMedia: flag, showMediaReplies: flag, showFeatured: flag }

/** `PATCH /api/v1/accounts/update_credentials` */
export const CredentialsUpdate = Schema.Struct({ ...profile, ...defaults }).pipe(Schema.encodeKeys(profileKeys))

/** `PATCH /api/v1/profile` */
export const ProfileUpdate = Schema.Struct({ ...profile, ...display }).pipe(Schema.encodeKeys({
  ...profileKeys,
  showMedia: "show_media",
  showMediaReplies: "show_media_replies",
  showFeatured: "show_featured"
}))

/** Fields of either request. */
const ProfileRequest = Schema.Struct({ ...profile, ...defaults, ...display })
export type ProfileRequest = typeof ProfileRequest.Type
