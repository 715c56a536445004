import { Schema } from "effect"
import { QuotePolicy } from "../statuses/InteractionPolicy.ts"
import { DefaultVisibility } from "../statuses/Visibility.ts"
import { ExpandMedia } from "./Settings.ts"

const NullableText = Schema.NullOr(Schema.String)

/** A profile picture by the names of its stored files; null removes it. */
const Picture = Schema.NullOr(Schema.Struct({
  name: Schema.String,
  staticName: NullableText,
  /** Perceptual hash of an avatar. */
  likeness: Schema.optionalKey(Schema.BigIntFromString)
}))

/** Profile fields that can be changed; absent ones stay unchanged. */
export const ProfileChange = Schema.Struct({
  displayName: Schema.optionalKey(Schema.String),
  note: Schema.optionalKey(Schema.String),
  fields: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
  locked: Schema.optionalKey(Schema.Boolean),
  bot: Schema.optionalKey(Schema.Boolean),
  discoverable: Schema.optionalKey(Schema.Boolean),
  indexable: Schema.optionalKey(Schema.Boolean),
  hideCollections: Schema.optionalKey(Schema.Boolean),
  showMedia: Schema.optionalKey(Schema.Boolean),
  showMediaReplies: Schema.optionalKey(Schema.Boolean),
  showFeatured: Schema.optionalKey(Schema.Boolean),
  avatar: Schema.optionalKey(Picture),
  header: Schema.optionalKey(Picture),
  avatarDescription: Schema.optionalKey(Schema.String),
  headerDescription: Schema.optionalKey(Schema.String),
  attributionDomains: Schema.optionalKey(Schema.Array(Schema.String)),
  defaultVisibility: Schema.optionalKey(DefaultVisibility),
  defaultSensitive: Schema.optionalKey(Schema.Boolean),
  defaultLanguage: Schema.optionalKey(NullableText),
  defaultQuotePolicy: Schema.optionalKey(QuotePolicy),
  /** Private settings of the owner. `chosenLanguages` filters public timelines; empty means all. */
  chosenLanguages: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Language of pages and e-mails (BCP 47); null means that the browser's is used. */
  locale: Schema.optionalKey(NullableText),
  /** Time zone of scheduled posts and of days in searches (IANA); null means UTC. */
  timeZone: Schema.optionalKey(NullableText),
  showApplication: Schema.optionalKey(Schema.Boolean),
  noindex: Schema.optionalKey(Schema.Boolean),
  /** True if others may subscribe to the public posts by e-mail. */
  emailSubscriptions: Schema.optionalKey(Schema.Boolean),
  expandMedia: Schema.optionalKey(ExpandMedia),
  expandSpoilers: Schema.optionalKey(Schema.Boolean),
  autoplayGifs: Schema.optionalKey(Schema.Boolean)
})
export type ProfileChange = typeof ProfileChange.Type
