import { type Html, html } from "../../html/Html.ts"
import { actForm } from "../shell/ActForm.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { ShownAccount } from "../status/StatusText.ts"
import { accountActPath } from "./FollowForm.ts"

/** Renders the buttons that accept or reject an account's follow request. */
export const requestActs = (visit: MemberVisit, { acct, id }: ShownAccount): Html => {
  const { say } = visit.reader.words
  const name = html`<span class="unseen"> @${acct}</span>`
  return actForm(
    visit,
    accountActPath(id),
    html`<button type="submit" name="act" value="authorize">${say("Accept")}${name}</button>
<button type="submit" name="act" value="reject" class="plain">${say("Reject")}${name}</button>`
  )
}
