import { posix } from "node:path"
import { type Html, html } from "../html/Html.ts"
import { stylesheet } from "../html/Stylesheet.ts"
import { firstDocument, manualList, renderManual } from "./ManualPage.ts"
import { manualStyle } from "./ManualStyle.ts"

/** Name of the stylesheet in the site's folder. */
const styleFile = "style.css"

const style = `${stylesheet}${manualStyle}
body { max-width: 76rem; margin: 0 auto }
body > header, .site main { max-width: none; margin: 0 }
body > header { margin-bottom: 1rem }
.site { display: grid; grid-template-columns: minmax(0, 1fr) 16rem; gap: 2rem; align-items: start }
.site nav ul { list-style: none; margin: 0 0 1rem; padding: 0 }
.site nav li { padding: .125rem 0 }
.site nav [aria-current] { color: inherit; font-weight: 600; text-decoration: none }
.skip { position: absolute; inset-inline-start: -100rem }
.skip:focus { position: static }
@media (max-width: 50rem) { .site { display: block } .site nav { margin-top: 2rem } }
`

/** Returns the file of a document's page, in the site's folder. */
const fileOf = (document: string): string =>
  document === firstDocument ? "index.html" : `${document.replace(/^docs\//, "").replace(/\.md$/, "")}.html`

/** Page of the site, whose links are relative, so that it can be read from any folder or server. */
const page = (title: string, body: Html, list: Html, to: (file: string) => string): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Murmuration</title>
<link rel="stylesheet" href="${to(styleFile)}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a href="${to(fileOf(firstDocument))}">Murmuration</a></header>
<div class="site">
<main id="content" tabindex="-1">
<h1>${title}</h1>
<div class="manual">${body}</div>
</main>
<nav aria-label="Documents">${list}</nav>
</div>
</body>
</html>
`)

/** Renders all documents as a static site without scripts: its files by name. */
export const staticManual = (documents: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([
    [styleFile, style],
    ...[...documents].map(([document, text]) => {
      const file = fileOf(document)
      const to = (other: string) => posix.relative(posix.dirname(file), other)
      const addressOf = (other: string) => documents.has(other) ? to(fileOf(other)) : undefined
      const { body, title } = renderManual(document, text, addressOf)
      return [file, page(title, body, manualList(documents, document, addressOf), to)] as const
    })
  ])
