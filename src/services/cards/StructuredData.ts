import { Result, Schema } from "effect"
import * as BoundedJson from "../outbound/BoundedJson.ts"

/** Types that describe the page, best first (schema.org). */
const pageTypes = ["NewsArticle", "ReportageNewsArticle", "Article", "BlogPosting", "VideoObject", "WebPage"]

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))
type Structure = Readonly<Record<string, unknown>>

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** Returns the first object of a value that may be one or several. */
const first = (value: unknown): Structure | undefined => listOf(value).find(isRecord)
const textOf = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined
/** Returns a text, or the first text among these members of an object. */
const textIn = (value: unknown, ...members: ReadonlyArray<string>): string | undefined => {
  const [one] = listOf(value)
  return textOf(one) ?? (isRecord(one) ? members.map((member) => textOf(one[member])).find((text) => text) : undefined)
}

/** Page metadata in JSON-LD; texts are unchanged. */
interface StructuredPage {
  readonly headline: string | undefined
  readonly description: string | undefined
  readonly language: string | undefined
  readonly publishedAt: string | undefined
  readonly authorName: string | undefined
  readonly authorUrl: string | undefined
  readonly publisherName: string | undefined
  readonly image: string | undefined
}

/** A line that comments out the CDATA markers around the data, and its maximum length. */
const wrapper = /^(?:\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>)$/
const wrapperCharactersMax = 64

const isWrapper = (line: string): boolean => {
  const trimmed = line.trim()
  return trimmed.length <= wrapperCharactersMax && wrapper.test(trimmed)
}

/** Removes the CDATA lines from structured data. */
const unwrapped = (text: string): string =>
  text.includes("<![CDATA[") || text.includes("]]>")
    ? text.split("\n").filter((line) => !isWrapper(line)).join("\n")
    : text

const objectsIn = (text: string): ReadonlyArray<Structure> => {
  const value = Result.getOrElse(BoundedJson.parse(unwrapped(text)), () => undefined)
  return listOf(value).filter(isRecord).flatMap((object) => [object, listOf(object["@graph"]).filter(isRecord)].flat())
}

/** Returns the object that describes the page, undefined without one. Ignores invalid JSON. */
export const structuredPage = (structures: ReadonlyArray<string>): StructuredPage | undefined => {
  const objects = structures.flatMap(objectsIn)
  const ofType = (type: string) => objects.find((object) => listOf(object["@type"]).includes(type))
  const found = pageTypes.map(ofType).find((object) => object !== undefined)
  if (found === undefined) return undefined
  const author = first(found["author"])
  return {
    headline: textIn(found["headline"]),
    description: textIn(found["description"]),
    language: textIn(found["inLanguage"], "alternateName", "name"),
    publishedAt: textIn(found["datePublished"]),
    authorName: textIn(author?.["name"] ?? found["author"]),
    authorUrl: textIn(author?.["url"]),
    publisherName: textIn(first(found["publisher"])?.["name"]),
    image: textIn(found["image"], "url", "contentUrl")
  }
}
