import { Effect } from "effect"
import { bounded } from "../text/BoundedText.ts"
import { readMarkup, readPageMarkup } from "./MarkupReader.ts"
import { plainText } from "./PlainText.ts"

/** Maximum links read in one document. */
const linksMax = 1_000

/**
 * Returns the `rel="me"` links of a page, from `a` and `link` elements (microformats). Yields to other fibers while it
 * reads a long page.
 */
export const relMe = Effect.fnUntraced(function*(html: string): Effect.fn.Return<ReadonlyArray<string>> {
  const found: Array<string> = []
  yield* readPageMarkup(html, {
    open: (name, { href, rel }) => {
      if (found.length === linksMax || (name !== "a" && name !== "link") || href === undefined) return
      if ((rel ?? "").toLowerCase().split(/\s+/).includes("me")) found.push(href)
    }
  })
  return found
})

/**
 * Returns the URL if the HTML is a single link whose visible text is the same URL, so that readers see where it leads
 * (row 15).
 */
export const onlyLink = (html: string): string | undefined => {
  const markup = bounded(html, fieldBytesMax)
  const links: Array<string> = []
  let others = false
  readMarkup(markup, {
    open: (name, { href }) => {
      if (name === "a") links.push(href ?? "")
      else if (name !== "span" && name !== "p") others = true
    }
  })
  const [link] = links
  const text = plainText(markup)
  return links.length === 1 && !others && link !== undefined && URL.parse(text)?.href === URL.parse(link)?.href &&
      URL.canParse(text)
    ? link
    : undefined
}

/** Maximum bytes of a profile field's HTML that are read. */
const fieldBytesMax = 16_384
