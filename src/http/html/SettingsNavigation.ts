import { type Html, html } from "./Html.ts"
import {
  accountPath,
  aliasesPath,
  authorizedAppsPath,
  deletionPath,
  invitesPath,
  movePath,
  passkeysPath,
  sessionsPath,
  twoFactorPath
} from "./PagePaths.ts"
import type { Visitor } from "./Visitors.ts"

/** Renders links to the pages on which members manage their account, and for staff to the staff pages. */
export const settingsNavigation = (
  { session, way, words: { say } }: Pick<Visitor, "session" | "way" | "words">,
  current: string
): Html => {
  const links: ReadonlyArray<readonly [path: string, text: string]> = [
    [accountPath, say("Account")],
    [twoFactorPath, say("Two-factor sign-in")],
    [passkeysPath, say("Passkeys")],
    [sessionsPath, say("Sessions")],
    [authorizedAppsPath, say("Apps")],
    [invitesPath, say("Invite people")],
    [aliasesPath, say("Account aliases")],
    [movePath, say("Move account")],
    [deletionPath, say("Delete account")],
    ...(session?.staff === true ? [["/admin", say("Staff pages")] as const] : [])
  ]
  return html`<nav class="settings" aria-label="${say("Settings")}"><ul>${
    links.map(([path, text]) =>
      path === current
        ? html`<li><a href="${way(path)}" aria-current="page">${text}</a></li>`
        : html`<li><a href="${way(path)}">${text}</a></li>`
    )
  }</ul></nav>`
}
