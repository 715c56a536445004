import { type Html, html } from "../../html/Html.ts"
import type { Account } from "../../wire/Account.ts"
import type { Values } from "../../wire/Keys.ts"
import type { Visit } from "../shell/Visit.ts"
import { nameOf, profilePath } from "../status/StatusText.ts"

interface Around {
  /** Element before the avatar: a check box. */
  readonly before?: Html
  /** Further text below the handle. */
  readonly below?: Html
  /** Forms behind the name. */
  readonly after?: Html
}

/** Renders an account in a list: avatar, name and handle. */
export const personRow = (
  { reader: { way } }: Visit,
  account: Values<Account>,
  { after, before, below }: Around = {}
): Html =>
  html`<div class="person">${before ?? ""}<img src="${account.avatarStatic}" alt="" loading="lazy">
<span><a class="name" href="${way(profilePath(account.acct))}"><bdi>${nameOf(account)}</bdi></a>
<span class="soft"><bdi>@${account.acct}</bdi></span>${below ?? ""}</span>${after ?? ""}</div>`
