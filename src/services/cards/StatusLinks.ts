import { hashedKey } from "../HashedKey.ts"
import { readMarkup } from "../html/MarkupReader.ts"
import { tokens } from "../html/TextTokens.ts"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import { bounded } from "../text/BoundedText.ts"
import { webUrl } from "./CardTexts.ts"
import { siteOf } from "./Sites.ts"

/** Bytes of a status that are searched for its link. */
const searchedBytesMax = 65_536

/** A link of a status that has a card: as the status has it, and as its page is asked for, once for all that mean it. */
export interface StatusLink {
  readonly url: string
  readonly pageUrl: string
  readonly pageKey: string
  readonly site: string
}

type Own = Pick<ServerConfig["Service"], "publicUrl" | "localDomain" | "outboundAllow">

/** The link that an address is; undefined where it leads to this server, or not into the web. */
export const linkOf = (config: Own, text: string): StatusLink | undefined => {
  const [url, own] = [webUrl(text, text), URL.parse(config.publicUrl)]
  if (url === undefined || url.host === own?.host || url.host === config.localDomain) return undefined
  const page = new URL(url)
  page.hash = ""
  // Servers of labs are asked without TLS.
  if (config.outboundAllow.length === 0) page.protocol = "https:"
  return { url: url.href, pageUrl: page.href, pageKey: hashedKey(page.href), site: siteOf(page.hostname) }
}

/** The first of them that is one. */
export const firstLink = (config: Own, texts: Iterable<string>): StatusLink | undefined => {
  for (const text of texts) {
    const link = linkOf(config, text)
    if (link !== undefined) return link
  }
  return undefined
}

/** Addresses in a text as its author wrote it. */
export const addressesInText = (text: string): ReadonlyArray<string> =>
  text.includes("://") ? tokens(text).flatMap((token) => token.kind === "url" ? [token.text] : []) : []

/** Addresses in sanitised HTML that are links and neither mentions nor hashtags, however these are marked. */
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

/** Collections of accounts that one post shows. */
export const taggedCollectionsMax = 10

/** Those of addresses that may lead to collections of accounts; others need no look at what is stored. */
export const collectionsAmong = (addresses: Iterable<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const address of addresses) {
    if (address.includes("/collections/") && found.size < taggedCollectionsMax) found.add(address)
  }
  return [...found]
}
