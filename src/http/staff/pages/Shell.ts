import type { Messages } from "../../../services/languages/Messages.ts"
import type { StaffMember } from "../../../services/staff/StaffMembers.ts"
import type { Waiting } from "../../../services/staff/WaitingWork.ts"
import type { FlashMessage } from "../../html/FlashMessages.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { navigation } from "./StaffNavigation.ts"

interface Shown {
  readonly words: Messages
  readonly member: StaffMember
  readonly server: string
  readonly path: string
  readonly waiting: Waiting
  readonly formToken: string
}

/** Frame of every staff page: server name, signed-in user and navigation. */
export const staffFrame = ({ formToken, member, path, server, waiting, words }: Shown): Html => {
  const { say } = words
  const links = navigation(words, member.permissions, path, waiting)
  return html`<header class="staff">
<p><a href="/admin">${server}</a> <span class="soft">${say("Staff")}</span></p>
<a class="home" href="/home">${say("Home")}</a>
<form method="post" action="/auth/sign_out">${tokenInput(formToken)}
<span class="me">@${member.username}${
    member.roleName === "" ? "" : html` <span class="badge">${member.roleName}</span>`
  }</span>
<button type="submit" class="quiet small">${say("Sign out")}</button></form>
</header>
<details class="menu"><summary>${say("Menu")}</summary><nav aria-label="${say("Menu")}">${links}</nav></details>
<nav class="side" aria-label="${say("Staff area")}">${links}</nav>`
}

/** Result of the last action, with its undo button. */
export const flashBox = ({ say }: Messages, formToken: string, notice: FlashMessage | undefined): Html =>
  notice === undefined ?
    html`` :
    html`<div class="done row" role="status"><p>${notice.notice}</p>${
      notice.undo === undefined ?
        "" :
        html`<form method="post" action="${notice.undo.path}">${tokenInput(formToken)}${hidden("confirmed", "yes")}${
          Object.entries(notice.undo.fields ?? {}).map(([name, value]) => hidden(name, value))
        }<button type="submit" class="quiet small" name="act" value="${notice.undo.act}">${say("Undo")}</button></form>`
    }</div>`
