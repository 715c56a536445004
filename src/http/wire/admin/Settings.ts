import { Schema } from "effect"
import { Html, Timestamp } from "../Common.ts"
import { Feeds } from "../Instance.ts"
import { Flag, hash, Integer, list, Text } from "../Params.ts"

/** A version of a document; `notice` says what is new in it. */
const DocumentVersion = Schema.Struct({
  content: Html,
  effective_date: Schema.String,
  notice: Schema.String,
  published_at: Timestamp
})

const budget = Schema.NullOr(Schema.Int)
const BudgetFields = { attachments: budget, profiles: budget, emoji: budget, cards: budget, database: budget }

/** What the server says about itself and how it takes people in, by the names that Mastodon's settings have. */
export const AdminSettings = Schema.Struct({
  site_title: Schema.String,
  site_short_description: Schema.String,
  site_extended_description: Html,
  site_contact_email: Schema.String,
  site_contact_username: Schema.NullOr(Schema.String),
  languages: Schema.Array(Schema.String),
  default_language: Schema.NullOr(Schema.String),
  accent_color: Schema.NullOr(Schema.String),
  registrations_mode: Schema.Literals(["open", "approved", "none"]),
  closed_registrations_message: Html,
  require_invite_text: Schema.Boolean,
  min_age: Schema.NullOr(Schema.Int),
  auto_close_registrations: Schema.Boolean,
  timelines_access: Schema.Struct({ live_feeds: Feeds, hashtag_feeds: Feeds }),
  /** In bytes; null where there is none. */
  storage_budgets: Schema.Struct(BudgetFields),
  privacy_policy: Schema.Array(DocumentVersion),
  terms_of_service: Schema.Array(DocumentVersion)
}).annotate({ identifier: "Admin::Settings" })
export type AdminSettings = typeof AdminSettings.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)
const Document = Schema.Struct({ content: text, effectiveDate: text, notice: text }).pipe(
  Schema.encodeKeys({ effectiveDate: "effective_date" })
)
const FeedsWrite = Schema.Struct({ local: text, remote: text })
const bytes = Schema.optionalKey(Integer)
const document = Schema.optionalKey(hash(Document))

/** `PATCH /api/v1/admin/settings`; what is absent stays, an empty text takes a setting away. */
export const SettingsWrite = Schema.Struct({
  title: text,
  description: text,
  extendedDescription: text,
  contactEmail: text,
  contactAccount: text,
  languages: Schema.optionalKey(list(Schema.String)),
  defaultLanguage: text,
  accentColor: text,
  registrations: text,
  registrationsMessage: text,
  reasonRequired: flag,
  minAge: Schema.optionalKey(Integer),
  autoClose: flag,
  timelinesAccess: Schema.optionalKey(
    hash(
      Schema.Struct({
        liveFeeds: Schema.optionalKey(hash(FeedsWrite)),
        hashtagFeeds: Schema.optionalKey(hash(FeedsWrite))
      }).pipe(Schema.encodeKeys({ liveFeeds: "live_feeds", hashtagFeeds: "hashtag_feeds" }))
    )
  ),
  /** Bytes by kind; what is left out loses its budget. */
  storageBudgets: Schema.optionalKey(
    hash(Schema.Struct({
      attachments: bytes,
      profiles: bytes,
      emoji: bytes,
      cards: bytes,
      database: bytes
    }))
  ),
  privacyPolicy: document,
  termsOfService: document
}).pipe(Schema.encodeKeys({
  title: "site_title",
  description: "site_short_description",
  extendedDescription: "site_extended_description",
  contactEmail: "site_contact_email",
  contactAccount: "site_contact_username",
  defaultLanguage: "default_language",
  accentColor: "accent_color",
  registrations: "registrations_mode",
  registrationsMessage: "closed_registrations_message",
  reasonRequired: "require_invite_text",
  minAge: "min_age",
  autoClose: "auto_close_registrations",
  timelinesAccess: "timelines_access",
  storageBudgets: "storage_budgets",
  privacyPolicy: "privacy_policy",
  termsOfService: "terms_of_service"
}))
export type SettingsWrite = typeof SettingsWrite.Type

/** The day from which the terms hold that everybody is written to about. */
export const AnnouncedTerms = Schema.Struct({ effective_date: Schema.String })
export type AnnouncedTerms = typeof AnnouncedTerms.Type
