import { readMarkup } from "../html/MarkupReader.ts"
import { tokens } from "../html/TextTokens.ts"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import { hashedKey } from "../secrets/HashedKey.ts"
import { bounded } from "../text/BoundedText.ts"
import { webUrl } from "./CardTexts.ts"
import { registrableDomain } from "./Sites.ts"

/** Maximum bytes of a status that are searched for its link. */
const searchedBytesMax = 65_536

/**
 * Link of a status that gets a card: as in the status, and normalised for the fetch, with one key for all equivalent
 * URLs.
 */
export interface StatusLink {
  readonly url: string
  readonly pageUrl: string
  readonly pageKey: string
  readonly site: string
}

type Own = Pick<ServerConfig["Service"], "publicUrl" | "localDomain" | "outboundAllow">

/** Parses a link; undefined for URLs of this server, and for others than web URLs. */
export const linkOf = (config: Own, text: string): StatusLink | undefined => {
  const [url, own] = [webUrl(text, text), URL.parse(config.publicUrl)]
  if (url === undefined || url.host === own?.host || url.host === config.localDomain) return undefined
  const page = new URL(url)
  page.hash = ""
  // Lab servers are fetched without TLS.
  if (config.outboundAllow.length === 0) page.protocol = "https:"
  return { url: url.href, pageUrl: page.href, pageKey: hashedKey(page.href), site: registrableDomain(page.hostname) }
}

/** Returns the first valid link. */
export const firstLink = (config: Own, texts: Iterable<string>): StatusLink | undefined => {
  for (const text of texts) {
    const link = linkOf(config, text)
    if (link !== undefined) return link
  }
  return undefined
}

/** Returns the URLs in a text as its author wrote it. */
export const addressesInText = (text: string): ReadonlyArray<string> =>
  text.includes("://") ? tokens(text).flatMap((token) => token.kind === "url" ? [token.text] : []) : []

/** Returns the URLs of links in sanitised HTML, except mentions and hashtags, however they are marked. */
export const addressesInHtml = (html: string): ReadonlyArray<string> => {
  if (!html.includes("<a ")) return []
  const found: Array<string> = []
  let address: string | undefined
  let label = ""
  readMarkup(bounded(html, searchedBytesMax), {
    open: (name, attributes) => {
      if (name !== "a") return
      const { class: classes = "", href, rel = "" } = attributes
      const marked = /(?:^|\s)(?:mention|hashtag|u-url|h-card)(?:\s|$)/.test(classes) ||
        rel.split(/\s+/).includes("tag")
      address = marked ? undefined : href
      label = ""
    },
    text: (text) => {
      if (label.length < 8) label += text
    },
    close: (name) => {
      if (name === "a" && address !== undefined && !/^\s*[@#＠＃]/u.test(label)) found.push(address)
      if (name === "a") address = undefined
    }
  })
  return found
}

/** Maximum collections shown with one post. */
export const taggedCollectionsMax = 10

/** Returns the URLs that may be of collections; others need no lookup. */
export const collectionsAmong = (addresses: Iterable<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const address of addresses) {
    if (address.includes("/collections/") && found.size < taggedCollectionsMax) found.add(address)
  }
  return [...found]
}
