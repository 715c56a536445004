import { Effect } from "effect"
import { readPageMarkup } from "../html/MarkupReader.ts"

/** Maximum properties and JSON-LD blocks kept of a page, and maximum characters of each. */
const propertiesMax = 200
const propertyCharactersMax = 8_192
const structuresMax = 8
const structureCharactersMax = 131_072

/** Metadata in a page's HTML. */
export interface PageMetadata {
  /** `meta` elements by `property` or `name` in lower case, the first of each. */
  readonly properties: ReadonlyMap<string, string>
  readonly title: string
  /** `lang` of the document. */
  readonly language: string | undefined
  /** URL of its oEmbed description (oembed.com section 4), relative to the page. */
  readonly embedding: string | undefined
  /** JSON-LD texts. */
  readonly structures: ReadonlyArray<string>
}

/** Reads a page's metadata in slices; takes time linear in its size, whatever is in it (row 35). */
export const readPage = Effect.fnUntraced(function*(html: string): Effect.fn.Return<PageMetadata> {
  const properties = new Map<string, string>()
  const structures: Array<string> = []
  let title = ""
  let language: string | undefined
  let embedding: string | undefined
  let inside: "title" | "structure" | undefined
  let titled = false
  /** Depth of open `svg` elements: these have titles, too. */
  let pictures = 0

  const meta = ({ content, name, property }: Readonly<Record<string, string>>) => {
    if (content === undefined || properties.size >= propertiesMax) return
    const value = content.slice(0, propertyCharactersMax)
    for (const key of `${property ?? ""} ${name ?? ""}`.toLowerCase().split(/\s+/)) {
      if (key !== "" && !properties.has(key)) properties.set(key, value)
    }
  }
  yield* readPageMarkup(html, {
    open: (name, attributes) => {
      if (name === "meta") meta(attributes)
      else if (name === "html") language ??= attributes["lang"]
      else if (name === "svg") pictures++
      else if (name === "title" && pictures === 0 && !titled) inside = "title"
      else if (name === "link") {
        const { href, rel = "", type = "" } = attributes
        const describes = /(?:^|\s)alternate(?:\s|$)/i.test(rel) && /^application\/json\+oembed\b/i.test(type.trim())
        if (describes) embedding ??= href
      } else if (name === "script" && /^application\/ld\+json\b/i.test((attributes["type"] ?? "").trim())) {
        if (structures.length < structuresMax) {
          structures.push("")
          inside = "structure"
        }
      }
    },
    text: (text) => {
      if (inside === "title" && title.length < propertyCharactersMax) title += text
      else if (inside === "structure") {
        const before = structures.at(-1) ?? ""
        if (before.length < structureCharactersMax) structures[structures.length - 1] = before + text
      }
    },
    close: (name) => {
      if (name === "svg") pictures = Math.max(0, pictures - 1)
      if (name === "title" && inside === "title") titled = true
      if (name === "title" || name === "script") inside = undefined
    }
  })
  return {
    properties,
    title: title.slice(0, propertyCharactersMax),
    language,
    embedding,
    structures: structures.map((text) => text.slice(0, structureCharactersMax))
  }
})
