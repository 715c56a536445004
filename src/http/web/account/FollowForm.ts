import { type Html, html } from "../../html/Html.ts"
import { actForm } from "../shell/ActForm.ts"
import type { ScriptName } from "../shell/ClientScripts.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ShownAccount } from "../status/StatusText.ts"

/** The part of a relationship that decides which acts are offered. */
export interface ShownRelationship {
  readonly following: boolean
  readonly requested: boolean
  readonly followedBy: boolean
  readonly blocking: boolean
  readonly blockedBy: boolean
}

/** Path of the acts on an account. */
export const accountActPath = (id: string): string => `/web/accounts/${id}`

/** Scripts of pages with `followForm`; visitors get none. */
export const followScripts = ({ viewer }: Visit): ReadonlyArray<ScriptName> => viewer === undefined ? [] : ["follow"]

/** Name and label of the one act that a relationship offers first. */
const offered = (
  { reader: { words: { say } } }: Visit,
  account: ShownAccount,
  { blocking, followedBy, following, requested }: ShownRelationship
): readonly [act: string, label: string] => {
  if (blocking) return ["unblock", say("Unblock")]
  if (requested) return ["unfollow", say("Withdraw request")]
  if (following) return ["unfollow", say("Unfollow")]
  if (account.locked) return ["follow", say("Request to follow")]
  return ["follow", followedBy ? say("Follow back") : say("Follow")]
}

/** Renders the button that follows or unfollows an account; empty for visitors, and for the viewer's own account. */
export const followForm = (
  visit: Visit,
  account: ShownAccount,
  relationship: ShownRelationship | undefined
): Html => {
  if (visit.viewer === undefined || relationship === undefined || account.id === String(visit.viewer)) return html``
  if (relationship.blockedBy && !relationship.blocking) return html``
  const [act, label] = offered(visit, account, relationship)
  return actForm(
    visit,
    accountActPath(account.id),
    html`<button type="submit" name="act" value="${act}"${
      act === "follow" ? "" : html` class="plain"`
    }>${label}<span class="unseen"> @${account.acct}</span></button>`,
    "follow"
  )
}
