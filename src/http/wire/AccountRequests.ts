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

/** `POST /api/v1/accounts/:id/mute`; `duration` in seconds. */
export const Mute = Schema.Struct({
  notifications: Schema.optionalKey(Flag),
  duration: Schema.optionalKey(Integer)
})

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

/** `PATCH /api/v1/accounts/update_credentials` */
export const ProfileUpdate = Schema.Struct({
  displayName: Schema.optionalKey(Schema.NullOr(Text)),
  note: Schema.optionalKey(Schema.NullOr(Text)),
  locked: Schema.optionalKey(Flag),
  bot: Schema.optionalKey(Flag),
  discoverable: Schema.optionalKey(Flag),
  indexable: Schema.optionalKey(Flag),
  hideCollections: Schema.optionalKey(Flag),
  avatar: Schema.optionalKey(FileTicket),
  header: Schema.optionalKey(FileTicket),
  avatarDescription: Schema.optionalKey(Schema.NullOr(Text)),
  headerDescription: Schema.optionalKey(Schema.NullOr(Text)),
  attributionDomains: Schema.optionalKey(list(Schema.String)),
  fieldsAttributes: Schema.optionalKey(
    hash(Schema.Union([Schema.Array(hash(Field)), Schema.Record(Schema.String, hash(Field))]))
  ),
  source: Schema.optionalKey(hash(Source))
}).pipe(Schema.encodeKeys({
  displayName: "display_name",
  hideCollections: "hide_collections",
  avatarDescription: "avatar_description",
  headerDescription: "header_description",
  attributionDomains: "attribution_domains",
  fieldsAttributes: "fields_attributes"
}))
export type ProfileUpdate = typeof ProfileUpdate.Type
