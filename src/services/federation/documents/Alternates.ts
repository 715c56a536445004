import { readMarkup } from "../../html/MarkupReader.ts"
import * as DocumentTypes from "../../outbound/DocumentTypes.ts"
import { bounded } from "../../text/BoundedText.ts"

/** Maximum bytes of a page, and characters of a Link header, that are searched for the object's URL. */
export const pageBytesMax = 65_536
const linkCharactersMax = 8_192

interface Link {
  readonly href: string
  readonly rel: string
  readonly type: string
}

const leads = ({ rel, type }: Link) =>
  rel.toLowerCase().split(/\s+/).includes("alternate") && DocumentTypes.activity.accepts(...DocumentTypes.parse(type))

/** Parses the links of a `Link` header (RFC 8288 section 3). */
const inHeader = (header: string): ReadonlyArray<Link> =>
  header.slice(0, linkCharactersMax).split(/,(?=\s*<)/).map((part) => {
    const [, href = "", rest = ""] = /^\s*<([^>]*)>(.*)$/.exec(part) ?? []
    const parameters = new Map(
      Array.from(
        rest.matchAll(/;\s*(\w+)=(?:"([^"]*)"|([^";,\s]*))/g),
        ([, name = "", quoted, plain = ""]) => [name.toLowerCase(), quoted ?? plain]
      )
    )
    return { href, rel: parameters.get("rel") ?? "", type: parameters.get("type") ?? "" }
  })

/** Returns the `link` elements of a page. */
const inPage = (html: string): ReadonlyArray<Link> => {
  const links: Array<Link> = []
  readMarkup(bounded(html, pageBytesMax), {
    open: (name, { href = "", rel = "", type = "" }) => {
      if (name === "link") links.push({ href, rel, type })
    }
  })
  return links
}

/** Returns the object's URL that an HTML page links to, in its headers or in its markup. */
export const alternateIn = (page: {
  readonly url: string
  readonly link: string
  readonly value: string
}): string | undefined => {
  const found = inHeader(page.link).find(leads) ?? inPage(page.value).find(leads)
  return found === undefined ? undefined : URL.parse(found.href, page.url)?.href
}
