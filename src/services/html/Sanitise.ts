import sanitizeHtml from "sanitize-html"
import type { BoundedText } from "../text/BoundedText.ts"

/*
 * Reduces remote HTML to what Mastodon keeps (federation.md section 9, "HTML"): markup that is not on these lists
 * becomes text. `sanitize-html` parses the document and writes a new one, so none of the original markup is copied
 * unparsed.
 */

/** Maximum nesting depth of HTML, in elements; deeper content is cut. */
export const nestingMax = 32

const linkSchemes = new Set(
  ["http", "https", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "xmpp", "magnet", "gemini"]
)

/** Allowed in addition to microformats: the fallback link of a quote. */
const inlineQuote = "quote-inline"
const classes = ["h-*", "p-*", "u-*", "dt-*", "e-*", "mention", "hashtag", "ellipsis", "invisible"]

const address = (href: string | undefined): string | undefined => {
  const url = href === undefined ? null : URL.parse(href)
  return url !== null && linkSchemes.has(url.protocol.slice(0, -1)) ? url.href : undefined
}

const anchor: sanitizeHtml.Transformer = (_, attributes) => {
  const href = address(attributes["href"])
  const attribs = plain("a", attributes).attribs
  if (href === undefined) return { tagName: "span", attribs: attribs }
  const relations = (attributes["rel"] ?? "").split(/\s+/).filter((word) => word === "tag" || word === "me")
  return {
    tagName: "a",
    attribs: { ...attribs, href, rel: ["nofollow", "noopener", ...relations].join(" "), target: "_blank" }
  }
}

const plain: sanitizeHtml.Transformer = (tagName, { lang, translate, ...attributes }) => ({
  tagName,
  attribs: {
    ...attributes,
    ...(lang !== undefined && /^[a-z]{2,8}(-[a-z0-9]{1,8}){0,4}$/i.test(lang) ? { lang } : undefined),
    ...(translate === "no" ? { translate } : undefined)
  }
})

/**
 * Headings become strong paragraphs. That takes two elements, so all of them become `h1` first, and `pass` replaces
 * that.
 */
const heading: sanitizeHtml.Transformer = () => ({ tagName: "h1", attribs: {} })

/** Mastodon's list, and the `h1` that `heading` produces. */
const allowedTags = "p br span a del s pre blockquote code b strong u i em ul ol li ruby rt rp h1".split(" ")

const options: sanitizeHtml.IOptions = {
  allowedTags,
  allowedAttributes: {
    "*": ["lang"],
    a: ["href", "rel", "class", "target", "translate"],
    p: ["class"],
    span: ["class", "translate"],
    ol: ["start", "reversed"],
    li: ["value"]
  },
  allowedClasses: { a: classes, p: [inlineQuote], span: [...classes, inlineQuote] },
  // `anchor` checks the scheme, on the parsed URL.
  allowedSchemes: [...linkSchemes],
  nestingLimit: nestingMax,
  transformTags: {
    a: anchor,
    ...Object.fromEntries(["h1", "h2", "h3", "h4", "h5", "h6"].map((name) => [name, heading])),
    // Older servers send `strike`; without it, deleted text would look valid.
    strike: (_, attributes) => plain("s", attributes),
    "*": plain
  }
}

/** Maximum passes until the result is stable: removing an element may leave others where they are not allowed. */
const passesMax = 5

const pass = (html: string): string =>
  sanitizeHtml(html, options).replaceAll("<h1>", "<p><strong>").replaceAll("</h1>", "</strong></p>")

/** Maximum characters that begin a tag or an entity; longer HTML is cut before the next one (row 35). */
export const marksMax = 1_500
const lessThan = 0x3c
const greaterThan = 0x3e
const ampersand = 0x26

/**
 * Cuts HTML before the mark that exceeds `marksMax`: parsers take time for each tag, and more for many unclosed ones.
 */
export const withinMarks = (html: BoundedText): string => {
  let [marks, ends] = [0, 0]
  for (let at = 0; at < html.length; at++) {
    const unit = html.charCodeAt(at)
    if ((unit === lessThan || unit === ampersand) && ++marks > marksMax) return html.slice(0, at)
    // A `>` outside of a tag becomes an entity.
    if (unit === greaterThan && ++ends > marksMax) return html.slice(0, at)
  }
  return html
}

/** Returns true for HTML with more than `marksMax` marks, which would be cut. */
export const hasMoreMarks = (html: BoundedText): boolean => withinMarks(html).length < html.length

/** Returns the allowed HTML. The result is stable: sanitising it again changes nothing. */
export const sanitise = (html: BoundedText): string => {
  const read = withinMarks(html)
  let [before, after] = [read, pass(read)]
  for (let passes = 1; after !== before && passes < passesMax; passes++) [before, after] = [after, pass(after)]
  return after
}
