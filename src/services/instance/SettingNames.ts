import { Option, Schema } from "effect"

/** Names under which the table of settings keeps what the server says about itself, and how it takes people in. */
export const settings = {
  title: "site_title",
  description: "site_short_description",
  extendedDescription: "site_extended_description",
  contactEmail: "contact_email",
  contactAccount: "contact_account",
  languages: "site_languages",
  defaultLanguage: "default_language",
  accentColor: "accent_color",
  timelinesAccess: "timelines_access",
  registrations: "registrations_mode",
  registrationsMessage: "registrations_message",
  reasonRequired: "require_invite_text",
  minAge: "min_age",
  autoClose: "auto_close_registrations",
  storageBudgets: "storage_budgets"
} as const

/** Who may sign up by themselves, whom a moderator lets in, or nobody. */
export const RegistrationsMode = Schema.Literals(["open", "approval", "closed"])

const Reach = Schema.Literals(["public", "authenticated", "disabled"])
/** Who may read public timelines: everybody, users, or those of the staff alone whose role has `view_feeds`. */
export type Reach = typeof Reach.Type

const Feeds = Schema.Struct({ local: Reach, remote: Reach })
/** By posts of this server and of others. */
export const TimelinesAccess = Schema.Struct({ liveFeeds: Feeds, hashtagFeeds: Feeds })
export type TimelinesAccess = typeof TimelinesAccess.Type

/** Values as the table has them; what was written by hand and is of another shape counts as not set. */
export const asText = Schema.decodeUnknownOption(Schema.String)
export const asTags = Schema.decodeUnknownOption(Schema.Array(Schema.String))
export const asMode = Schema.decodeUnknownOption(RegistrationsMode)
export const asTimelinesAccess = Schema.decodeUnknownOption(TimelinesAccess)
export const asFlag = (value: unknown): boolean => value === true
export const asYears = (value: unknown): Option.Option<number> => Schema.decodeUnknownOption(Schema.Int)(value)
/** Undefined for any other word. */
export const asReach = (value: unknown): Reach | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(Reach)(value))
