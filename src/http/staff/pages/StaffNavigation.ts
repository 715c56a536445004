import type { Messages } from "../../../services/languages/Messages.ts"
import { mayAny, type Permission } from "../../../services/staff/Permissions.ts"
import { type Waiting, waitingCountMax } from "../../../services/staff/WaitingWork.ts"
import { type Html, html } from "../../html/Html.ts"

interface Entry {
  readonly path: `/admin${string}`
  readonly label: (words: Pick<Messages, "say">) => string
  readonly permissions: ReadonlyArray<Permission>
  /** Kind of waiting work that the entry counts. */
  readonly waiting?: keyof Waiting
}

interface Section {
  readonly label: (words: Pick<Messages, "say">) => string
  readonly entries: ReadonlyArray<Entry>
}

/** All pages linked from the navigation. */
const sections: ReadonlyArray<Section> = [
  {
    label: ({ say }) => say("Overview"),
    entries: [
      { path: "/admin", label: ({ say }) => say("Dashboard"), permissions: ["viewDashboard"] }
    ]
  },
  {
    label: ({ say }) => say("Moderation"),
    entries: [
      {
        path: "/admin/reports",
        label: ({ say }) => say("Reports"),
        permissions: ["manageReports"],
        waiting: "reports"
      },
      {
        path: "/admin/accounts",
        label: ({ say }) => say("Accounts"),
        permissions: ["manageUsers"],
        waiting: "signUps"
      },
      {
        path: "/admin/appeals",
        label: ({ say }) => say("Appeals"),
        permissions: ["manageAppeals"],
        waiting: "appeals"
      },
      {
        path: "/admin/held_posts",
        label: ({ say }) => say("Held posts"),
        permissions: ["manageReports", "manageRules"],
        waiting: "heldPosts"
      },
      { path: "/admin/spam_rules", label: ({ say }) => say("Spam rules"), permissions: ["manageRules"] }
    ]
  },
  {
    label: ({ say }) => say("Discovery"),
    entries: [
      {
        path: "/admin/trends",
        label: ({ say }) => say("Trends"),
        permissions: ["manageTaxonomies"],
        waiting: "trends"
      },
      { path: "/admin/tags", label: ({ say }) => say("Hashtags"), permissions: ["manageTaxonomies"] },
      { path: "/admin/measures", label: ({ say }) => say("Statistics"), permissions: ["viewDashboard"] }
    ]
  },
  {
    label: ({ say }) => say("Servers"),
    entries: [
      { path: "/admin/instances", label: ({ say }) => say("Other servers"), permissions: ["manageFederation"] },
      { path: "/admin/domain_blocks", label: ({ say }) => say("Blocked servers"), permissions: ["manageFederation"] },
      { path: "/admin/domain_allows", label: ({ say }) => say("Allowed servers"), permissions: ["manageFederation"] },
      {
        path: "/admin/moderation_lists",
        label: ({ say }) => say("Moderation lists"),
        permissions: ["manageFederation"]
      },
      {
        path: "/admin/moderation_suggestions",
        label: ({ say }) => say("Suggestions"),
        permissions: ["manageFederation"],
        waiting: "suggestions"
      },
      { path: "/admin/relays", label: ({ say }) => say("Relays"), permissions: ["manageFederation"] }
    ]
  },
  {
    label: ({ say }) => say("Registrations"),
    entries: [
      { path: "/admin/invites", label: ({ say }) => say("Invites"), permissions: ["manageInvites"] },
      {
        path: "/admin/email_domain_blocks",
        label: ({ say }) => say("Blocked email providers"),
        permissions: ["manageBlocks"]
      },
      {
        path: "/admin/canonical_email_blocks",
        label: ({ say }) => say("Blocked email addresses"),
        permissions: ["manageBlocks"]
      },
      { path: "/admin/ip_blocks", label: ({ say }) => say("Blocked IP addresses"), permissions: ["manageBlocks"] },
      { path: "/admin/username_blocks", label: ({ say }) => say("Blocked usernames"), permissions: ["manageBlocks"] }
    ]
  },
  {
    label: ({ say }) => say("Settings"),
    entries: [
      { path: "/admin/settings", label: ({ say }) => say("Server settings"), permissions: ["manageSettings"] },
      { path: "/admin/rules", label: ({ say }) => say("Rules"), permissions: ["manageRules"] },
      { path: "/admin/roles", label: ({ say }) => say("Roles"), permissions: ["manageRoles"] },
      { path: "/admin/announcements", label: ({ say }) => say("Announcements"), permissions: ["manageAnnouncements"] },
      { path: "/admin/custom_emojis", label: ({ say }) => say("Custom emoji"), permissions: ["manageCustomEmojis"] },
      { path: "/admin/webhooks", label: ({ say }) => say("Webhooks"), permissions: ["manageWebhooks"] },
      { path: "/admin/audit_log", label: ({ say }) => say("Audit log"), permissions: ["viewAuditLog"] }
    ]
  }
]

/** Returns the sections and entries that the permissions allow. */
const sectionsFor = (permissions: bigint): ReadonlyArray<Section> =>
  sections.map(({ entries, label }) => ({
    label,
    entries: entries.filter((entry) => mayAny(permissions, entry.permissions))
  })).filter(({ entries }) => entries.length > 0)

/** Path of the first page that the permissions allow; undefined if there is no match. */
export const firstPath = (permissions: bigint): string | undefined => sectionsFor(permissions)[0]?.entries[0]?.path

/** Returns true if a page is the entry's own page or below it. */
const leadsTo = (entry: Entry, path: string): boolean =>
  path === entry.path || (entry.path !== "/admin" && path.startsWith(`${entry.path}/`))

const countOf = ({ figure, say }: Messages, count: number): Html =>
  count === 0 ?
    html`` :
    html` <span class="count"><span class="spoken">${say("pending:")} </span>${
      count >= waitingCountMax ? `${figure(waitingCountMax)}+` : figure(count)
    }</span>`

/** Navigation: sections with their pages and counts of waiting work. */
export const navigation = (words: Messages, permissions: bigint, path: string, waiting: Waiting): Html =>
  html`${
    sectionsFor(permissions).map(({ entries, label }) =>
      html`<p class="section">${label(words)}</p><ul>${
        entries.map((entry) =>
          html`<li><a href="${entry.path}"${leadsTo(entry, path) ? html` aria-current="page"` : ""}>${
            entry.label(words)
          }${entry.waiting === undefined ? "" : countOf(words, waiting[entry.waiting])}</a></li>`
        )
      }</ul>`
    )
  }`
