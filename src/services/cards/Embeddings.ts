import { Schema } from "effect"
import { lineOfHtml } from "../html/TextLine.ts"
import { nameCharactersMax, titleCharactersMax, webUrl } from "./CardTexts.ts"
import { frameIn, pixelsOf, type PlayerFrame } from "./PlayerFrames.ts"

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

/** Parsed oEmbed response (oembed.com section 2.3). */
export interface Embedding {
  readonly title: string
  readonly authorName: string
  readonly authorUrl: string
  readonly providerName: string
  readonly providerUrl: string
  readonly thumbnail: string | undefined
  readonly photo: { readonly url: string; readonly width: number; readonly height: number } | undefined
  readonly video: PlayerFrame | undefined
}

/**
 * Parses an oEmbed response about the page at `pageUrl`; undefined if invalid. Of its HTML only the frame of a video is
 * used: most others are scripts.
 */
export const embeddingOf = (document: unknown, pageUrl: string): Embedding | undefined => {
  if (!isRecord(document) || !/^1(?:\.0)?$/.test(String(document["version"]))) return undefined
  const text = (name: string) => typeof document[name] === "string" ? document[name] : undefined
  const address = (name: string) => webUrl(text(name), pageUrl)?.href
  const size = { width: document["width"], height: document["height"] }
  const photo = document["type"] === "photo" ? address("url") : undefined
  return {
    title: lineOfHtml(text("title"), titleCharactersMax),
    authorName: lineOfHtml(text("author_name"), nameCharactersMax),
    authorUrl: address("author_url") ?? "",
    providerName: lineOfHtml(text("provider_name"), nameCharactersMax),
    providerUrl: address("provider_url") ?? "",
    thumbnail: address("thumbnail_url"),
    photo: photo === undefined
      ? undefined
      : { url: photo, width: pixelsOf(size.width), height: pixelsOf(size.height) },
    video: document["type"] === "video" ? frameIn(text("html") ?? "", pageUrl, size) : undefined
  }
}
