import { line, lineOfHtml } from "../html/TextLine.ts"
import { languageTag } from "../instance/Languages.ts"
import { momentOf } from "../runtime/Moments.ts"
import type { Card } from "./Card.ts"
import {
  descriptionCharactersMax,
  imageDescriptionCharactersMax,
  nameCharactersMax,
  titleCharactersMax,
  webUrl
} from "./CardTexts.ts"
import type { Embedding } from "./Embeddings.ts"
import type { PageMetadata } from "./PageMetadata.ts"
import { playerFrame } from "./PlayerFrames.ts"
import { structuredPage } from "./StructuredData.ts"

/** Maximum characters of a handle in a page. */
const handleCharactersMax = 300

/** Card of a page, with URLs and handles that are still to be resolved. */
interface PageCard {
  readonly card: Card
  readonly imageUrl: string | undefined
  /** Handle of the account that the page names as its author. */
  readonly creator: string | undefined
}

/** Returns `en` for `en_US`: the country that a page states says little about its texts. */
const languageOf = (text: string | undefined): string | null => {
  const [code = ""] = (text ?? "").trim().split(/[-_]/, 1)
  return languageTag(code) ?? null
}

/**
 * Builds the card of the page at `url`: from JSON-LD, then OpenGraph, then the page's title, with the player or the
 * photo of oEmbed. Undefined if the page has no title.
 */
export const pageCard = (
  page: PageMetadata,
  url: string,
  embedding: Embedding | undefined
): PageCard | undefined => {
  const structured = structuredPage(page.structures)
  const property = (...names: ReadonlyArray<string>) =>
    names.map((name) => page.properties.get(name)).find((text) => text)
  const named = property("og:title", "twitter:title")
  const title = lineOfHtml(structured?.headline, titleCharactersMax) || line(named, titleCharactersMax) ||
    embedding?.title || line(page.title, titleCharactersMax)
  if (title === "") return undefined
  const player = embedding?.video ?? playerFrame(property("twitter:player"), url, {
    width: property("twitter:player:width"),
    height: property("twitter:player:height")
  })
  const photo = embedding?.photo
  const published = momentOf(structured?.publishedAt ?? property("article:published_time"))
  const image = property("og:image", "og:image:url", "og:image:secure_url", "twitter:image") ?? structured?.image
  const { height, width } = photo ?? player ?? { width: 0, height: 0 }
  return {
    card: {
      title,
      description: lineOfHtml(structured?.description, descriptionCharactersMax) ||
        line(property("og:description", "twitter:description", "description"), descriptionCharactersMax),
      language: languageOf(structured?.language) ?? languageOf(property("og:locale")) ?? languageOf(page.language),
      type: photo !== undefined ? "photo" : player !== undefined ? "video" : "link",
      authorName: lineOfHtml(structured?.authorName, nameCharactersMax) || embedding?.authorName ||
        line(property("og:author", "og:author:username", "author"), nameCharactersMax),
      authorUrl: webUrl(structured?.authorUrl, url)?.href ?? embedding?.authorUrl ?? "",
      providerName: lineOfHtml(structured?.publisherName, nameCharactersMax) || embedding?.providerName ||
        line(property("og:site_name"), nameCharactersMax),
      providerUrl: embedding?.providerUrl ?? "",
      html: photo === undefined ? player?.html ?? "" : "",
      width,
      height,
      embedUrl: photo?.url ?? (webUrl(property("twitter:player:stream"), url)?.href ?? ""),
      imageDescription: line(property("og:image:alt", "twitter:image:alt"), imageDescriptionCharactersMax),
      publishedAt: published ?? null
    },
    imageUrl: photo?.url ?? webUrl(image, url)?.href ?? embedding?.thumbnail,
    creator: property("fediverse:creator")?.trim().slice(0, handleCharactersMax)
  }
}
