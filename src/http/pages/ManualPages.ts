import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Manual } from "../../services/instance/Manual.ts"
import { english } from "../../services/languages/Catalogs.ts"
import { firstDocument, manualMenu, renderManual } from "../docs/ManualPage.ts"
import { type Html, html } from "../html/Html.ts"
import { manualPath } from "../html/PagePaths.ts"
import { PublicPages } from "./PublicPages.ts"

/** Returns the path of a document's page, without `docs/` and `.md`. */
const pathOf = (document: string): string =>
  document === firstDocument ? manualPath : `${manualPath}/${document.replace(/^docs\//, "").replace(/\.md$/, "")}`

/** Maximum characters of a document with a page: to render a longer one would delay other requests. */
const charactersMax = 65_536

/** Returns the pages of all documents by path, each rendered when it is first asked for. */
const pagesOf = (all: ReadonlyMap<string, string>) => {
  const documents = new Map([...all].filter(([, text]) => text.length <= charactersMax))
  const byPath = new Map([...documents.keys()].map((document) => [pathOf(document), document]))
  const addressOf = (document: string) => documents.has(document) ? pathOf(document) : undefined
  const rendered = new Map<string, { readonly title: string; readonly body: Html }>()
  return (path: string) => {
    const document = byPath.get(path)
    if (document === undefined) return undefined
    const known = rendered.get(path)
    if (known !== undefined) return known
    const { body, title } = renderManual(document, documents.get(document) ?? "", addressOf)
    const page = {
      title,
      body: html`<div class="manual">${body}</div>
${manualMenu(documents, document, addressOf)}`
    }
    rendered.set(path, page)
    return page
  }
}

/** The documents of the repository as pages, in English. Without documents every page is missing. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const pages = yield* PublicPages
  const all = yield* Effect.cached(Effect.map(yield* Manual, pagesOf))
  const show = (path: string) =>
    Effect.flatMap(all, (pageAt) => {
      const page = pageAt(path)
      return page === undefined ? pages.notFound : pages.respond({ words: english, ...page })
    })
  // Also the route of `manualPath` itself.
  return HttpRouter.add(
    "GET",
    `${manualPath}/*`,
    Effect.flatMap(HttpRouter.params, ({ "*": rest = "" }) => show(rest === "" ? manualPath : `${manualPath}/${rest}`))
  )
}))
