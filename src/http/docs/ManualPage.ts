import MarkdownIt, { type Token } from "markdown-it"
import { posix } from "node:path"
import { type Html, html, raw } from "../html/Html.ts"

/** Path of the document that is shown first. */
export const firstDocument = "docs/guide/index.md"

/** A rendered document. */
interface ManualPage {
  /** Text of its first heading. */
  readonly title: string
  /** Everything below the first heading. */
  readonly body: Html
}

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, "").replaceAll(" ", "-")

/** Comments for the tests of the documents. */
const comments = /^ *<!--.*-->\n/gm

const markdown = new MarkdownIt({ html: false })

// Names of variables break after an underscore, and URLs after a slash, not within a word.
const codeRule = "code_inline"
const renderCode = markdown.renderer.rules[codeRule]
markdown.renderer.rules[codeRule] = (...given) =>
  (renderCode?.(...given) ?? "").replaceAll(/_|\/+(?!code>)/g, "$&<wbr>")

/** Gives headings their anchors, makes code that scrolls reachable by keyboard, and empty header cells plain cells. */
const prepareBlocks = (tokens: ReadonlyArray<Token>) => {
  const taken = new Map<string, number>()
  for (const [at, token] of tokens.entries()) {
    const content = tokens[at + 1]?.content ?? ""
    if (token.type === "heading_open") {
      const anchor = anchorOf(content)
      const before = taken.get(anchor) ?? 0
      taken.set(anchor, before + 1)
      token.attrSet("id", before === 0 ? anchor : `${anchor}-${before}`)
    }
    if (token.type === "fence") token.type = "code_block"
    if (token.type === "code_block") token.attrSet("tabindex", "0")
    const close = tokens[at + 2]
    if (token.type === "th_open" && content === "" && close !== undefined) token.tag = close.tag = "td"
  }
}

/** Resolves links between documents; a link to another file of the repository becomes its text. */
const resolveLinks = (tokens: ReadonlyArray<Token>, from: string, addressOf: (path: string) => string | undefined) => {
  const parts = tokens.flatMap(({ children }) => children ?? [])
  for (const [at, token] of parts.entries()) {
    if (token.type !== "link_open") continue
    const href = String(token.attrGet("href") ?? "")
    if (href.startsWith("#") || /^[a-z]+:/.test(href)) continue
    const [path = "", anchor] = href.split("#")
    const address = addressOf(posix.join(posix.dirname(from), path))
    if (address !== undefined) token.attrSet("href", anchor === undefined ? address : `${address}#${anchor}`)
    else {
      const close = parts.slice(at).find(({ type }) => type === "link_close")
      for (const link of [token, close]) if (link !== undefined) [link.type, link.content] = ["text", ""]
    }
  }
}

const titled = /^# (.+)$/m

/** Returns the title of a document: its first heading, or its path. */
const titleOf = (path: string, text: string): string => titled.exec(text)?.[1]?.trim() ?? path

/**
 * Renders a document. `addressOf` returns the address of another document by its path in the repository; undefined for
 * other files.
 */
export const renderManual = (
  path: string,
  text: string,
  addressOf: (path: string) => string | undefined
): ManualPage => {
  const tokens = markdown.parse(text.replace(comments, "").replace(titled, ""), {})
  prepareBlocks(tokens)
  resolveLinks(tokens, path, addressOf)
  return { title: titleOf(path, text), body: raw(markdown.renderer.render(tokens, markdown.options, {})) }
}

/** Sections of the list of documents, by the folder of their documents. */
const sections: ReadonlyArray<readonly [folder: string, title: string]> = [
  ["docs/guide", "Guide"],
  ["docs", "Reference"],
  ["docs/wire", "For developers"],
  ["docs/decisions", "Decisions"],
  [".", "About the project"]
]

/** Renders the list of all documents by section: the guide in the order of its first page, the others by title. */
export const manualList = (
  documents: ReadonlyMap<string, string>,
  current: string,
  addressOf: (path: string) => string | undefined
): Html => {
  const first = documents.get(firstDocument) ?? ""
  const placeOf = (path: string) => path === firstDocument ? -1 : first.indexOf(`(${posix.basename(path)}`)
  return html`${
    sections.map(([folder, title]) => {
      const entries = [...documents].filter(([path]) => posix.dirname(path) === folder)
        .map(([path, text]) => ({ path, title: titleOf(path, text), place: placeOf(path) }))
        .toSorted((a, b) => a.place - b.place || (a.title < b.title ? -1 : 1))
      return entries.length === 0 ?
        "" :
        html`<h2>${title}</h2><ul>${
          entries.map((entry) =>
            html`<li><a href="${addressOf(entry.path)}"${
              entry.path === current ? html` aria-current="page"` : ""
            }>${entry.title}</a></li>`
          )
        }</ul>`
    })
  }`
}

/** Renders the list of all documents, closed, for the end of a page. */
export const manualMenu = (...listed: Parameters<typeof manualList>): Html =>
  html`<nav class="below" aria-label="Documents"><details><summary>All documents</summary>${
    manualList(...listed)
  }</details></nav>`
