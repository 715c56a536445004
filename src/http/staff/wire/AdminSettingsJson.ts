import { Schema } from "effect"
import {
  type KindOf,
  type SettingKey,
  settingKeys,
  settings,
  wireNames,
  type WireOf
} from "../../../services/instance/SettingTable.ts"
import { Html, Timestamp } from "../../wire/Common.ts"
import { Feeds } from "../../wire/Instance.ts"
import { Flag, hash, Integer, list, Text } from "../../wire/Params.ts"

/** A version of a document; `notice` describes its changes. */
const DocumentVersion = Schema.Struct({
  content: Html,
  effective_date: Schema.String,
  notice: Schema.String,
  published_at: Timestamp
})

const budget = Schema.NullOr(Schema.Int)
const read = {
  line: Schema.String,
  document: Html,
  email: Schema.String,
  account: Schema.NullOr(Schema.String),
  language: Schema.NullOr(Schema.String),
  languages: Schema.Array(Schema.String),
  color: Schema.NullOr(Schema.String),
  choice: Schema.String,
  flag: Schema.Boolean,
  count: Schema.NullOr(Schema.Int),
  access: Schema.Struct({ live_feeds: Feeds, hashtag_feeds: Feeds }),
  /** Budgets in bytes; null without a budget. */
  budgets: Schema.Struct({ attachments: budget, profiles: budget, emoji: budget, cards: budget, database: budget })
}
/** Values of settings in responses, by kind. */
export type SettingRead = { readonly [Kind in keyof typeof read]: typeof read[Kind]["Type"] }

const text = Schema.optionalKey(Schema.NullOr(Text))
const FeedsWrite = Schema.Struct({ local: text, remote: text })
const bytes = Schema.optionalKey(Integer)
const write = {
  line: text,
  document: text,
  email: text,
  account: text,
  language: text,
  languages: Schema.optionalKey(list(Schema.String)),
  color: text,
  choice: text,
  flag: Schema.optionalKey(Flag),
  count: Schema.optionalKey(Integer),
  access: Schema.optionalKey(
    hash(
      Schema.Struct({
        liveFeeds: Schema.optionalKey(hash(FeedsWrite)),
        hashtagFeeds: Schema.optionalKey(hash(FeedsWrite))
      }).pipe(Schema.encodeKeys({ liveFeeds: "live_feeds", hashtagFeeds: "hashtag_feeds" }))
    )
  ),
  /** Bytes by kind; a kind that is left out loses its budget. */
  budgets: Schema.optionalKey(
    hash(Schema.Struct({ attachments: bytes, profiles: bytes, emoji: bytes, cards: bytes, database: bytes }))
  )
}
/** Values of settings in requests, by kind. */
export type SettingWrite = { readonly [Kind in keyof typeof write]: typeof write[Kind]["Type"] }

type Read = { readonly [Key in SettingKey as WireOf[Key]]: typeof read[KindOf[Key]] }
type Write = { readonly [Key in SettingKey]: typeof write[KindOf[Key]] }

/** Returns the fields of responses. A choice has a schema with its words. */
function readFields(): Read
function readFields(): Readonly<Record<string, Schema.Top>> {
  return Object.fromEntries(settingKeys.map((key) => {
    const { kind, params, wire } = settings[key]
    return [wire, "options" in params ? Schema.Literals(Object.values(params.options)) : read[kind]]
  }))
}

/** Returns the fields of requests. */
function writeFields(): Write
function writeFields(): Readonly<Record<string, Schema.Top>> {
  return Object.fromEntries(settingKeys.map((key) => [key, write[settings[key].kind]]))
}

/** Settings about the server and its registrations, by Mastodon's names. */
export const AdminSettings = Schema.Struct({
  ...readFields(),
  privacy_policy: Schema.Array(DocumentVersion),
  terms_of_service: Schema.Array(DocumentVersion)
}).annotate({ identifier: "Admin::Settings" })
export type AdminSettings = typeof AdminSettings.Type

const Document = Schema.Struct({ content: text, effectiveDate: text, notice: text }).pipe(
  Schema.encodeKeys({ effectiveDate: "effective_date" })
)
const document = Schema.optionalKey(hash(Document))

/** `PATCH /api/v1/admin/settings`; absent settings are unchanged, an empty text clears one. */
export const SettingsWrite = Schema.Struct({
  ...writeFields(),
  privacyPolicy: document,
  termsOfService: document
}).pipe(Schema.encodeKeys({ ...wireNames, privacyPolicy: "privacy_policy", termsOfService: "terms_of_service" }))
export type SettingsWrite = typeof SettingsWrite.Type

/** Effective date of the terms that everyone is notified of by e-mail. */
export const AnnouncedTerms = Schema.Struct({ effective_date: Schema.String })
export type AnnouncedTerms = typeof AnnouncedTerms.Type
