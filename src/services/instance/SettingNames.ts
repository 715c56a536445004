import { Option, Schema } from "effect"

/** Names of the server's settings in the table `settings`. */
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

/** Registration modes: for everyone, with approval by a moderator, or closed. */
export const RegistrationsMode = Schema.Literals(["open", "approval", "closed"])

const TimelineReaders = Schema.Literals(["public", "authenticated", "disabled"])
/** Readers of a public timeline: everyone, signed-in users, or only staff whose role has `view_feeds`. */
export type TimelineReaders = typeof TimelineReaders.Type

const Feeds = Schema.Struct({ local: TimelineReaders, remote: TimelineReaders })
/** Access to timelines, by local and remote posts. */
export const TimelinesAccess = Schema.Struct({ liveFeeds: Feeds, hashtagFeeds: Feeds })
export type TimelinesAccess = typeof TimelinesAccess.Type

/** Decoders of values in the table; a value of another shape, for example one edited by hand, counts as unset. */
export const decodeText = Schema.decodeUnknownOption(Schema.String)
export const decodeTags = Schema.decodeUnknownOption(Schema.Array(Schema.String))
export const decodeMode = Schema.decodeUnknownOption(RegistrationsMode)
export const decodeTimelinesAccess = Schema.decodeUnknownOption(TimelinesAccess)
export const decodeFlag = (value: unknown): boolean => value === true
export const decodeYears = (value: unknown): Option.Option<number> => Schema.decodeUnknownOption(Schema.Int)(value)
/** Decodes an access level; undefined for any other word. */
export const decodeTimelineReaders = (value: unknown): TimelineReaders | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(TimelineReaders)(value))
