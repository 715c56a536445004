import type { Messages } from "../../../services/languages/Messages.ts"
import { staffBits } from "../../../services/staff/Permissions.ts"
import { tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { signInTo } from "../../html/PagePaths.ts"
import { isSettingsPath, settingsPath } from "../settings/SettingsNavigation.ts"
import { icon, type IconName } from "./Icons.ts"
import type { Visit } from "./Visit.ts"

interface Entry {
  readonly path: string
  readonly icon: IconName
  readonly label: (words: Messages) => string
  /** True if the entry is on the bar of a phone; four are. */
  readonly primary?: true
  /** Paths outside of the entry's own path that belong to the entry. */
  readonly isAt?: (path: string) => boolean
  /** True if the entry shows the number of unread notifications. */
  readonly counts?: true
  /** Condition for members; by default all members see it. */
  readonly when?: (visit: Visit) => boolean
}

/** Entries for members. */
const entries: ReadonlyArray<Entry> = [
  { path: "/home", icon: "home", label: ({ say }) => say("Home"), primary: true },
  { path: "/notifications", icon: "bell", label: ({ say }) => say("Notifications"), primary: true, counts: true },
  { path: "/publish", icon: "pen", label: ({ say }) => say("New post"), primary: true },
  { path: "/explore", icon: "compass", label: ({ say }) => say("Explore"), primary: true },
  { path: "/search", icon: "search", label: ({ say }) => say("Search") },
  { path: "/public/local", icon: "people", label: ({ say }) => say("Local") },
  { path: "/public", icon: "globe", label: ({ say }) => say("Federated") },
  { path: "/conversations", icon: "mail", label: ({ say }) => say("Private mentions") },
  { path: "/bookmarks", icon: "bookmark", label: ({ say }) => say("Bookmarks") },
  { path: "/favourites", icon: "star", label: ({ say }) => say("Favourites") },
  { path: "/lists", icon: "list", label: ({ say }) => say("Lists") },
  { path: "/followed_tags", icon: "hash", label: ({ say }) => say("Followed hashtags") },
  { path: "/follow_requests", icon: "check", label: ({ say }) => say("Follow requests") },
  { path: "/collections", icon: "pin", label: ({ say }) => say("Collections") },
  { path: "/catchup", icon: "clock", label: ({ say }) => say("Catch up") },
  { path: "/announcements", icon: "flag", label: ({ say }) => say("Announcements") },
  { path: "/drafts", icon: "draft", label: ({ say }) => say("Drafts") },
  { path: "/scheduled", icon: "calendar", label: ({ say }) => say("Scheduled posts") },
  {
    path: settingsPath,
    icon: "gear",
    label: ({ say }) => say("Settings"),
    isAt: isSettingsPath
  },
  {
    path: "/admin",
    icon: "shield",
    label: ({ say }) => say("Administration"),
    when: ({ session }) => ((session?.permissions ?? 0n) & staffBits) !== 0n
  }
]

/** Maximum unread notifications that are counted. */
export const unreadMax = 100

/** Renders the number of unread notifications; empty for none. Scripts fetch it again (`badge.client.ts`). */
export const unreadBadge = ({ figure, say }: Messages, unread: number): Html =>
  unread === 0
    ? html``
    : html`<span class="unread-count" data-count="${unread}" aria-hidden="true">${
      unread < unreadMax ? figure(unread) : `${figure(unreadMax - 1)}+`
    }</span><span class="unseen">${say("{count, number} new", { count: unread })}</span>`

/** Path of the entry that the page is or belongs to; the longest one, as some paths begin with another. */
const openEntry = (current: string, shown: ReadonlyArray<Entry>): string | undefined =>
  shown.filter(({ isAt, path }) => isAt?.(current) === true || current === path || current.startsWith(`${path}/`))
    .map(({ path }) => path).toSorted((a, b) => b.length - a.length)[0]

const link = (
  { counts, icon: name, label, path }: Entry,
  visit: Visit,
  open: string | undefined,
  unread: number
): Html => {
  const { path: currentPath, reader: { way, words } } = visit
  const current = path === open ? html` aria-current="${path === currentPath ? "page" : "true"}"` : ""
  return html`<li><a href="${way(path)}"${current}${counts === true ? html` data-counts` : ""}>${icon(name)}<span>${
    label(words)
  }</span>${counts === true ? unreadBadge(words, unread) : ""}</a></li>`
}

const list = (visit: Visit, shown: ReadonlyArray<Entry>, unread: number): Html => {
  const open = openEntry(visit.path, shownTo(visit))
  return html`<ul>${shown.map((entry) => link(entry, visit, open, unread))}</ul>`
}

/** Returns the entries that a member sees, with the own profile after the search. */
const shownTo = (visit: Visit): ReadonlyArray<Entry> =>
  entries.filter(({ when }) => when?.(visit) ?? true).flatMap((entry): ReadonlyArray<Entry> =>
    entry.path === "/search" && visit.session !== undefined
      ? [entry, { path: `/@${visit.session.username}`, icon: "person", label: ({ say }) => say("Profile") }]
      : [entry]
  )

/** Navigation above or beside the page: everything for members, the way in for visitors. */
export const navigation = (visit: Visit, unread: number): Html => {
  const { formToken, pathAndQuery, reader: { way, words: { say } }, session } = visit
  if (session === undefined) {
    return html`<nav class="side" aria-label="${say("Menu")}"><ul>
<li><a href="${way("/about")}">${icon("home")}<span>${say("About this server")}</span></a></li>
<li><a href="${way("/explore")}">${icon("compass")}<span>${say("Explore")}</span></a></li>
<li><a href="${way(signInTo(pathAndQuery))}">${icon("enter")}<span>${say("Sign in")}</span></a></li></ul></nav>`
  }
  return html`<nav class="side" aria-label="${say("Menu")}">${list(visit, shownTo(visit), unread)}
<form method="post" action="/auth/sign_out">${tokenInput(formToken)}<button type="submit" class="plain">${
    icon("leave")
  }<span>${say("Sign out")}</span></button></form></nav>`
}

/** Bar at the bottom of a phone: four entries, and all others behind the fifth. */
export const bottomBar = (visit: Visit, unread: number): Html => {
  if (visit.session === undefined) return html``
  const { say } = visit.reader.words
  const shown = shownTo(visit)
  return html`<nav class="bar" aria-label="${say("Bottom bar")}">${
    list(visit, shown.filter(({ primary }) => primary === true), unread)
  }<details><summary>${icon("menu")}<span>${say("More")}</span></summary>${
    list(visit, shown.filter(({ primary }) => primary !== true), unread)
  }</details></nav>`
}
