import type { Messages } from "../../../services/languages/Messages.ts"
import { staffBits } from "../../../services/staff/Permissions.ts"
import { tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { signInTo } from "../../html/PagePaths.ts"
import { isSettingsPath, settingsPath } from "../settings/Rooms.ts"
import { icon, type IconName } from "./Icons.ts"
import type { Visit } from "./Visit.ts"

interface Entry {
  readonly path: string
  readonly icon: IconName
  readonly label: (words: Messages) => string
  /** True if the entry is on the bar of a phone; four are. */
  readonly primary?: true
  /** Condition for being the current entry; the same path by default. */
  readonly isAt?: (path: string) => boolean
  /** Condition for members; shown to all of them by default. */
  readonly when?: (visit: Visit) => boolean
}

/** Entries for members. */
const entries: ReadonlyArray<Entry> = [
  { path: "/home", icon: "home", label: ({ say }) => say("Home"), primary: true },
  { path: "/public/local", icon: "people", label: ({ say }) => say("Local"), primary: true },
  { path: "/public", icon: "globe", label: ({ say }) => say("Federated") },
  { path: "/bookmarks", icon: "bookmark", label: ({ say }) => say("Bookmarks"), primary: true },
  { path: "/favourites", icon: "star", label: ({ say }) => say("Favourites"), primary: true },
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

const link = ({ icon: name, isAt, label, path }: Entry, { path: here, reader: { way, words } }: Visit): Html =>
  html`<li><a href="${way(path)}"${(isAt?.(here) ?? path === here) ? html` aria-current="page"` : ""}>${
    icon(name)
  }<span>${label(words)}</span></a></li>`

const list = (visit: Visit, shown: ReadonlyArray<Entry>): Html =>
  html`<ul>${shown.map((entry) => link(entry, visit))}</ul>`

const shownTo = (visit: Visit): ReadonlyArray<Entry> => entries.filter(({ when }) => when?.(visit) ?? true)

/** Navigation above or beside the page: everything for members, the way in for visitors. */
export const navigation = (visit: Visit): Html => {
  const { formToken, here, reader: { way, words: { say } }, session } = visit
  if (session === undefined) {
    return html`<nav class="side" aria-label="${say("Menu")}"><ul>
<li><a href="${way("/about")}">${icon("home")}<span>${say("About this server")}</span></a></li>
<li><a href="${way(signInTo(here))}">${icon("enter")}<span>${say("Sign in")}</span></a></li></ul></nav>`
  }
  return html`<nav class="side" aria-label="${say("Menu")}">${list(visit, shownTo(visit))}
<form method="post" action="/auth/sign_out">${tokenInput(formToken)}<button type="submit" class="plain">${
    icon("leave")
  }<span>${say("Sign out")}</span></button></form></nav>`
}

/** Bar at the bottom of a phone: four entries, and all others behind the fifth. */
export const bottomBar = (visit: Visit): Html => {
  if (visit.session === undefined) return html``
  const { say } = visit.reader.words
  const shown = shownTo(visit)
  return html`<nav class="bar" aria-label="${say("Bottom bar")}">${
    list(visit, shown.filter(({ primary }) => primary === true))
  }<details><summary>${icon("menu")}<span>${say("More")}</span></summary>${
    list(visit, shown.filter(({ primary }) => primary !== true))
  }</details></nav>`
}
