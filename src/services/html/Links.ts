import sanitizeHtml from "sanitize-html"
import { plainText } from "./PlainText.ts"

/** Links of one document that are looked at. */
const linksMax = 1_000

const opened = (html: string, on: (name: string, attributes: sanitizeHtml.Attributes) => void) =>
  sanitizeHtml(html, { allowedTags: [], allowedAttributes: {}, onOpenTag: on })

/** Where an HTML document says that its owner is as well: `a` and `link` with `rel="me"` (microformats). */
export const relMe = (html: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  opened(html, (name, { href, rel }) => {
    if (found.length === linksMax || (name !== "a" && name !== "link") || href === undefined) return
    if ((rel ?? "").toLowerCase().split(/\s+/).includes("me")) found.push(href)
  })
  return found
}

/**
 * The address in HTML that is one link and nothing else, and that shows the whole of it: what people read is where it
 * leads (row 15).
 */
export const onlyLink = (html: string): string | undefined => {
  const links: Array<string> = []
  let others = false
  opened(html, (name, { href }) => {
    if (name === "a") links.push(href ?? "")
    else if (name !== "span" && name !== "p") others = true
  })
  const [link] = links
  const text = plainText(html)
  return links.length === 1 && !others && link !== undefined && URL.parse(text)?.href === URL.parse(link)?.href &&
      URL.canParse(text)
    ? link
    : undefined
}
