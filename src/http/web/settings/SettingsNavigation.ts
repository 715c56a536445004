import type { Messages } from "../../../services/languages/Messages.ts"
import { strikesPath } from "../../../services/moderation/StrikeLinks.ts"
import { type Html, html } from "../../html/Html.ts"
import {
  accountPath,
  aliasesPath,
  archivesPath,
  authorizedAppsPath,
  deletionPath,
  emailSettingsPath,
  invitesPath,
  movePath,
  passkeysPath,
  pushPath,
  sessionsPath,
  transfersPath,
  twoFactorPath
} from "../../html/PagePaths.ts"
import type { Visit } from "../shell/Visit.ts"

interface Entry {
  readonly path: string
  readonly label: (words: Messages) => string
}

interface Section {
  readonly title: (words: Messages) => string
  readonly entries: ReadonlyArray<Entry>
}

/** Settings pages, in the order of their navigation. */
const sections: ReadonlyArray<Section> = [
  {
    title: ({ say }) => say("Your profile"),
    entries: [
      { path: "/settings/profile", label: ({ say }) => say("Public profile") },
      { path: "/settings/featured", label: ({ say }) => say("Featured on your profile") },
      { path: "/settings/privacy", label: ({ say }) => say("Privacy and reach") }
    ]
  },
  {
    title: ({ say }) => say("Preferences"),
    entries: [
      { path: "/settings/posting", label: ({ say }) => say("Posting") },
      { path: "/settings/interactions", label: ({ say }) => say("Who may interact") },
      { path: "/settings/reading", label: ({ say }) => say("Reading and appearance") },
      { path: "/settings/notifications", label: ({ say }) => say("Notifications") },
      { path: pushPath, label: ({ say }) => say("Notifications in this browser") },
      { path: emailSettingsPath, label: ({ say }) => say("Email notifications") },
      { path: "/settings/cleanup", label: ({ say }) => say("Automated post deletion") }
    ]
  },
  {
    title: ({ say }) => say("People and words"),
    entries: [
      { path: "/settings/relationships", label: ({ say }) => say("Follows and followers") },
      { path: "/settings/filters", label: ({ say }) => say("Filters") },
      { path: "/mutes", label: ({ say }) => say("Muted accounts") },
      { path: "/blocks", label: ({ say }) => say("Blocked accounts") },
      { path: "/domain_blocks", label: ({ say }) => say("Blocked servers") }
    ]
  },
  {
    title: ({ say }) => say("Account"),
    entries: [
      { path: accountPath, label: ({ say }) => say("Account") },
      { path: twoFactorPath, label: ({ say }) => say("Two-factor sign-in") },
      { path: passkeysPath, label: ({ say }) => say("Passkeys") },
      { path: sessionsPath, label: ({ say }) => say("Sessions") },
      { path: authorizedAppsPath, label: ({ say }) => say("Apps") },
      { path: invitesPath, label: ({ say }) => say("Invite people") },
      { path: transfersPath, label: ({ say }) => say("Import and export") },
      { path: archivesPath, label: ({ say }) => say("Archives of posts") },
      { path: aliasesPath, label: ({ say }) => say("Account aliases") },
      { path: movePath, label: ({ say }) => say("Move account") },
      { path: deletionPath, label: ({ say }) => say("Delete account") },
      { path: strikesPath, label: ({ say }) => say("Decisions about your account") }
    ]
  }
]

/** Path of the list of settings pages. */
export const settingsPath = "/settings"

const covers = (path: string, entry: string) => path === entry || path.startsWith(`${entry}/`)

/** Returns true for the paths of settings pages, and of those below them. */
export const isSettingsPath = (path: string): boolean =>
  path === settingsPath || sections.some(({ entries }) => entries.some((entry) => covers(path, entry.path)))

/** Renders the links to all settings pages by section. */
export const settingsList = ({ path, reader: { way, words } }: Visit): Html =>
  html`${
    sections.map(({ entries, title }) =>
      html`<h2>${title(words)}</h2><ul>${
        entries.map((entry) =>
          html`<li><a href="${way(entry.path)}"${covers(path, entry.path) ? html` aria-current="page"` : ""}>${
            entry.label(words)
          }</a></li>`
        )
      }</ul>`
    )
  }`

/** Renders a settings page: the way back to the list on narrow windows, its content, and the list beside it. */
export const inSettings = (visit: Visit, body: Html): { readonly body: Html; readonly aside: Html } => {
  const { reader: { way, words: { say } } } = visit
  return {
    body: html`<p class="back"><a href="${way(settingsPath)}">${say("All settings")}</a></p>
<div class="settings">${body}</div>`,
    aside: html`<nav class="settings-list" aria-label="${say("Settings")}">${settingsList(visit)}</nav>`
  }
}
