import { type Html, html } from "../../html/Html.ts"
import { linkTo } from "../../html/HtmlPage.ts"
import { invitesPath, twoFactorPath } from "../../html/PagePaths.ts"
import type { PageReader } from "../../html/Visitors.ts"

/** Renders three things that a new owner does next. */
export const nextSteps = ({ way, words: { pieces } }: PageReader): Html =>
  html`<ol class="steps">
<li>${
    pieces("<link>Protect your account</link> with a second factor: it can change everything on this server.", {
      link: linkTo(way(twoFactorPath))
    })
  }</li>
<li>${
    pieces("<link>Describe your server</link> and choose who may sign up.", {
      link: linkTo(way("/admin/settings"))
    })
  }</li>
<li>${pieces("<link>Invite people</link> to your server.", { link: linkTo(way(invitesPath)) })}</li>
</ol>`
