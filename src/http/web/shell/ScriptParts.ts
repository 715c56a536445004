import { type Html, html } from "../../html/Html.ts"
import { viewerDialog } from "../viewer/ViewerDialog.ts"
import { icon } from "./Icons.ts"
import type { Visit } from "./Visit.ts"

/** Empty dialog in which scripts open small pages. */
const pageDialog = ({ reader: { words: { say } }, session }: Visit): Html =>
  session === undefined
    ? html``
    : html`<dialog id="page-dialog" aria-label="${say("Dialog")}"><form method="dialog"><button class="plain close">${
      icon("cross")
    }<span class="unseen">${say("Close")}</span></button></form><div></div></dialog>`

/** Notice of a kept page without a network; the service worker shows it. */
const offlineText = ({ reader: { words: { say } }, session }: Visit): Html =>
  session === undefined
    ? html``
    : html`<p id="offline" class="problem">${say("You are offline. This is a saved copy of Home.")}</p>`

/** Parts that only scripts use. They are in a block of data, so that browsers without scripts do not show them. */
export const scriptParts = (visit: Visit): Html =>
  html`<script type="text/html" id="parts">${pageDialog(visit)}${viewerDialog(visit)}${offlineText(visit)}</script>`
