import { sanitise } from "../../html/Sanitise.ts"
import { momentOf } from "../../runtime/Moments.ts"
import { isTagName } from "../../statuses/Tags.ts"
import { bounded } from "../../text/BoundedText.ts"
import { asForeign, asList, asText, type Foreign, idOf, type ReadUrl, typeOf, worded } from "./ForeignValues.ts"

/** Maximum characters of a collection's name and description, and maximum items that are read. */
const nameCharactersMax = 256
const descriptionCharactersMax = 2_048
const foreignItemsMax = 150

/** Account in a remote collection. */
export interface ForeignItem {
  readonly uri: string
  readonly account: string
  readonly authorization: string | undefined
}

/** Collection of another server; every value was truncated and sanitised. */
export interface ForeignCollection {
  readonly uri: string
  readonly url: string
  readonly name: string
  readonly description: string
  readonly language: string | null
  readonly sensitive: boolean
  readonly discoverable: boolean
  readonly tagName: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number | undefined
  readonly items: ReadonlyArray<ForeignItem>
}

/** Parses an item; undefined if it is malformed or on another server than the collection's owner. */
export const foreignItem = (value: unknown, owner: URL, readUrl: ReadUrl): ForeignItem | undefined => {
  const item = asForeign(value)
  const uri = readUrl(item?.["id"])
  const account = readUrl(idOf(item?.["featuredObject"]))
  if (item === undefined || typeOf(item, "FeaturedItem") === undefined) return undefined
  if (uri === undefined || uri.origin !== owner.origin || account === undefined) return undefined
  const authorization = readUrl(idOf(item["featureAuthorization"]))
  // Only the featured account can consent, so other origins do not count.
  return {
    uri: uri.href,
    account: account.href,
    authorization: authorization?.origin === account.origin ? authorization.href : undefined
  }
}

/** Parses the owner's collection document; undefined if it is malformed or belongs to another account. */
export const foreignCollection = (value: unknown, owner: string, readUrl: ReadUrl): ForeignCollection | undefined => {
  const document: Foreign = asForeign(value) ?? {}
  const uri = readUrl(document["id"])
  const by = URL.parse(owner)
  if (typeOf(document, "FeaturedCollection") === undefined || uri === undefined || by === null) return undefined
  if (uri.origin !== by.origin || idOf(document["attributedTo"]) !== owner) return undefined
  const page = readUrl(idOf(document["url"]) ?? asForeign(document["url"])?.["href"])
  const { language, text } = worded(document, "summary", descriptionCharactersMax)
  const tag = (asText(asForeign(document["topic"])?.["name"], nameCharactersMax) ?? "").replace(/^#/, "")
  return {
    uri: uri.href,
    url: page?.origin === by.origin ? page.href : uri.href,
    name: asText(document["name"], nameCharactersMax) ?? "",
    description: sanitise(bounded(text)),
    language,
    sensitive: document["sensitive"] === true,
    discoverable: document["discoverable"] === true,
    tagName: isTagName(tag) ? tag : null,
    createdAt: momentOf(document["published"]),
    items: asList(document["orderedItems"]).slice(0, foreignItemsMax).flatMap((one) =>
      foreignItem(one, by, readUrl) ?? []
    )
  }
}
