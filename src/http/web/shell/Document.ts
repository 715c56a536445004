import { appleIconEdge, faviconEdges } from "../../../services/instance/PictureSettings.ts"
import { type Html, html } from "../../html/Html.ts"
import { languageAttributes } from "../../html/LanguageAttributes.ts"
import { faviconPath, iconPath, manifestPath, themePath } from "../../html/PagePaths.ts"
import { skipLink } from "../../html/SkipLink.ts"
import { liveAttributes, liveRegion } from "./LiveParts.ts"
import { bottomBar, navigation } from "./Navigation.ts"
import { scriptParts } from "./ScriptParts.ts"
import type { View, Visit } from "./Visit.ts"
import { webStylePath } from "./WebStylesheet.ts"

interface Shown {
  readonly visit: Visit
  readonly view: View
  readonly scripts: Html
  /** Number of unread notifications. */
  readonly unread: number
  /** Result of the last act, or a refusal, above the content. */
  readonly above: Html
}

/** Renders a page of the web: head, navigation, column and aside. */
export const documentOf = ({ above, scripts, unread, view, visit }: Shown): string => {
  const { server, words } = visit.reader
  const scheme = visit.session?.web.scheme ?? "auto"
  return String(html`<!doctype html>
<html ${languageAttributes(words.tag)}${scheme === "auto" ? "" : html` class="${scheme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${view.indexable === true ? "" : html`<meta name="robots" content="noindex">`}
<title>${view.title} · ${server}</title>
<link rel="stylesheet" href="${webStylePath}">
<link rel="stylesheet" href="${themePath}">
${scripts}${
    faviconEdges.map((edge) =>
      html`<link rel="icon" type="image/png" sizes="${edge}x${edge}" href="${faviconPath(edge)}">
`
    )
  }<link rel="apple-touch-icon" sizes="${appleIconEdge}x${appleIconEdge}" href="${iconPath(appleIconEdge)}">
<link rel="manifest" href="${manifestPath}">
${view.head ?? ""}
</head>
<body${liveAttributes(visit, view)}>
${skipLink(words)}
<header class="top"><a href="/">${server}</a></header>
${navigation(visit, unread)}
<main id="content" tabindex="-1">
<h1${view.hiddenTitle === true ? html` class="unseen"` : ""}>${view.title}</h1>
${above}${view.body}
</main>
${view.aside === undefined ? "" : html`<aside>${view.aside}</aside>`}
${bottomBar(visit, unread)}
${liveRegion(visit, view)}${scriptParts(visit)}
</body>
</html>
`)
}
