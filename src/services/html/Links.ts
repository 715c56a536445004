import { Effect } from "effect"
import { bounded } from "../text/BoundedText.ts"
import { readMarkup, readPageMarkup } from "./MarkupReader.ts"
import { plainText } from "./PlainText.ts"

/** Links of one document that are looked at. */
const linksMax = 1_000

/**
 * Where a page says that its owner is as well: `a` and `link` with `rel="me"` (microformats). Other work gets its turn while a
 * long page is read.
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
 * The address in HTML that is one link and nothing else, and that shows the whole of it: what people read is where it
 * leads (row 15).
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

/** Bytes of the HTML of a profile field that are read. */
const fieldBytesMax = 16_384
