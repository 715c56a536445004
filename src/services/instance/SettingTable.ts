import { Struct } from "effect"
import type { SettingKind, SettingKinds } from "./SettingKinds.ts"

/** A setting that staff change at run time. */
interface Setting<Kind extends SettingKind = SettingKind> {
  /** Name in the table `settings`. */
  readonly stored: string
  readonly kind: Kind
  readonly params: SettingKinds[Kind]["params"]
  /** Value without a stored one; environment variables replace some of them in `InstancePolicies`. */
  readonly unset: SettingKinds[Kind]["value"]
  /** Service that reads it: `Instance.about` with each request, or `InstancePolicies`, which is cached. */
  readonly reader: "about" | "policies"
  /** Name in the staff API. */
  readonly wire: string
  /** Field of the settings page; undefined for settings with their own forms. */
  readonly form: SettingKinds[Kind]["field"] | undefined
  /** Flag of `instance set`; undefined for settings that the command line does not set. */
  readonly flag: SettingKinds[Kind]["flag"] | undefined
}

type AnySetting = { readonly [Kind in SettingKind]: Setting<Kind> }[SettingKind]

/** Settings of the server, in the order of the API. */
const table = {
  title: {
    stored: "site_title",
    kind: "line",
    params: { name: "Title", charactersMax: 100 },
    unset: "Murmuration",
    reader: "about",
    wire: "site_title",
    form: { section: "about", name: "title", label: ({ say }) => say("Server name") },
    flag: { name: "title", about: "The server's name" }
  },
  description: {
    stored: "site_short_description",
    kind: "line",
    params: { name: "Description", charactersMax: 500 },
    unset: "",
    reader: "about",
    wire: "site_short_description",
    form: { section: "about", name: "description", label: ({ say }) => say("Short description"), rows: 2 },
    flag: { name: "description", about: "Description in one or two sentences" }
  },
  extendedDescription: {
    stored: "site_extended_description",
    kind: "document",
    params: {},
    unset: null,
    reader: "about",
    wire: "site_extended_description",
    form: {
      section: "about",
      name: "extended_description",
      label: ({ say }) => say("Server description"),
      hint: ({ say }) => say("Plain text or HTML; unsafe markup is removed."),
      rows: 8
    },
    flag: { name: "extended-description", about: "File with the extended description: plain text or HTML" }
  },
  contactEmail: {
    stored: "contact_email",
    kind: "email",
    params: {},
    unset: "",
    reader: "about",
    wire: "site_contact_email",
    form: { section: "about", name: "contact_email", label: ({ say }) => say("Contact email") },
    flag: { name: "contact-email", about: "Contact address of the operator" }
  },
  contactAccount: {
    stored: "contact_account",
    kind: "account",
    params: {},
    unset: null,
    reader: "about",
    wire: "site_contact_username",
    form: { section: "about", name: "contact_account", label: ({ say }) => say("Contact account") },
    flag: { name: "contact-account", about: "Contact account; default is the first owner" }
  },
  languages: {
    stored: "site_languages",
    kind: "languages",
    params: {},
    unset: ["en"],
    reader: "about",
    wire: "languages",
    form: {
      section: "about",
      name: "languages",
      label: ({ say }) => say("Server languages"),
      hint: ({ say }) => say("Language tags separated by spaces: de en pt-BR")
    },
    flag: { name: "languages", about: "Languages of the server, as comma-separated tags: en,pt-BR" }
  },
  defaultLanguage: {
    stored: "default_language",
    kind: "language",
    params: {},
    unset: null,
    reader: "about",
    wire: "default_language",
    form: {
      section: "about",
      name: "default_language",
      label: ({ say }) => say("Default language"),
      hint: ({ say }) => say("Used in pages and emails for people without a language preference.")
    },
    flag: undefined
  },
  accentColor: {
    stored: "accent_color",
    kind: "color",
    params: { name: "Accent color" },
    unset: null,
    reader: "about",
    wire: "accent_color",
    form: undefined,
    flag: { name: "accent-color", about: "Color of links and buttons, as #rrggbb" }
  },
  registrations: {
    stored: "registrations_mode",
    kind: "choice",
    params: {
      name: "Registrations mode",
      options: { open: "open", approval: "approved", closed: "none" }
    },
    unset: "closed",
    reader: "policies",
    wire: "registrations_mode",
    form: {
      section: "registrations",
      name: "registrations",
      label: ({ say }) => say("Sign-ups"),
      choices: ({ say }) => ({
        open: say("Everyone"),
        approval: say("Approval required"),
        closed: say("Invite only")
      })
    },
    flag: undefined
  },
  registrationsMessage: {
    stored: "registrations_message",
    kind: "document",
    params: {},
    unset: null,
    reader: "policies",
    wire: "closed_registrations_message",
    form: {
      section: "registrations",
      name: "registrations_message",
      label: ({ say }) => say("Message when sign-ups are closed"),
      rows: 4
    },
    flag: undefined
  },
  reasonRequired: {
    stored: "require_invite_text",
    kind: "flag",
    params: {},
    unset: false,
    reader: "policies",
    wire: "require_invite_text",
    form: { section: "registrations", name: "reason_required", label: ({ say }) => say("Ask for a reason to join") },
    flag: undefined
  },
  minAge: {
    stored: "min_age",
    kind: "count",
    params: { name: "Min age", max: 120 },
    unset: null,
    reader: "policies",
    wire: "min_age",
    form: {
      section: "registrations",
      last: true,
      name: "min_age",
      label: ({ say }) => say("Minimum age"),
      hint: ({ say }) => say("Empty or 0 for none. The date of birth is not stored.")
    },
    flag: undefined
  },
  autoClose: {
    stored: "auto_close_registrations",
    kind: "flag",
    params: {},
    unset: false,
    reader: "policies",
    wire: "auto_close_registrations",
    form: {
      section: "registrations",
      name: "auto_close",
      label: ({ say }) => say("Require approval when no moderator has been active for a week")
    },
    flag: undefined
  },
  timelinesAccess: {
    stored: "timelines_access",
    kind: "access",
    params: {},
    unset: {
      liveFeeds: { local: "public", remote: "public" },
      hashtagFeeds: { local: "public", remote: "public" }
    },
    reader: "policies",
    wire: "timelines_access",
    form: undefined,
    flag: undefined
  },
  blockedCrawlers: {
    stored: "blocked_crawlers",
    kind: "agents",
    params: {},
    // The agent that Mastodon's robots.txt names.
    unset: ["GPTBot"],
    reader: "policies",
    wire: "blocked_crawlers",
    form: {
      section: "about",
      last: true,
      name: "blocked_crawlers",
      label: ({ say }) => say("Blocked crawlers"),
      hint: ({ say }) => say("Names of crawlers that robots.txt keeps away, separated by spaces.")
    },
    flag: undefined
  },
  storageBudgets: {
    stored: "storage_budgets",
    kind: "budgets",
    params: {},
    unset: {},
    reader: "about",
    wire: "storage_budgets",
    form: undefined,
    flag: undefined
  }
} as const satisfies Record<string, AnySetting>

type Table = typeof table
export type SettingKey = keyof Table
/** Kind of each setting. */
export type KindOf = { readonly [Key in SettingKey]: Table[Key]["kind"] }
/** Name of each setting in the API. */
export type WireOf = { readonly [Key in SettingKey]: Table[Key]["wire"] }

export type Reader = Setting["reader"]
type ValueOf<Key extends SettingKey> = Table[Key] extends { readonly params: { readonly options: infer Options } }
  ? keyof Options
  : SettingKinds[KindOf[Key]]["value"]
/** Values of all settings, by their kinds. */
export type SettingValues = { readonly [Key in SettingKey]: SettingKinds[KindOf[Key]]["value"] }
/** Values of the settings of a reader. */
export type ValuesFor<By extends Reader> = {
  readonly [Key in SettingKey as Table[Key]["reader"] extends By ? Key : never]: ValueOf<Key>
}
export const settings: { readonly [Key in SettingKey]: Setting<KindOf[Key]> } = table
export const settingKeys: ReadonlyArray<SettingKey> = Struct.keys(table)

/** Name of each setting in the API. */
export const wireNames: WireOf = wireNamesOf(table)

function wireNamesOf<T extends Record<string, { readonly wire: string }>>(
  rows: T
): { readonly [Key in keyof T]: T[Key]["wire"] }
function wireNamesOf(rows: Record<string, { readonly wire: string }>) {
  return Object.fromEntries(Object.entries(rows).map(([key, { wire }]) => [key, wire]))
}
