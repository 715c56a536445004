import { Schema } from "effect"
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
const BudgetFields = { attachments: budget, profiles: budget, emoji: budget, cards: budget, database: budget }

/** Settings about the server and its registrations, by Mastodon's names. */
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
  /** Budgets in bytes; null without a budget. */
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

/** `PATCH /api/v1/admin/settings`; absent settings are unchanged, an empty text clears one. */
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
  /** Bytes by kind; a kind that is left out loses its budget. */
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

/** Effective date of the terms that everyone is notified of by e-mail. */
export const AnnouncedTerms = Schema.Struct({ effective_date: Schema.String })
export type AnnouncedTerms = typeof AnnouncedTerms.Type
