import { Context, Schema } from "effect"
import { type Messages, messagesOf } from "./Messages.ts"

/**
 * Server texts of one language, by their English words. `texts` are errors, recognised by their finished English
 * wording: `{0}` and `{1}` are their values, `{a}` the name of one of the `attributes`. `messages` are of pages and
 * mails (ICU MessageFormat).
 */
export const CatalogFile = Schema.Struct({
  attributes: Schema.Record(Schema.String, Schema.String),
  texts: Schema.Record(Schema.String, Schema.String),
  messages: Schema.Record(Schema.String, Schema.String)
})
export type CatalogFile = typeof CatalogFile.Type

/** A compiled catalog; `tag` is its language (BCP 47). */
export interface Catalog extends Messages {
  readonly tag: string
  /** Translates a text; returns it unchanged if unknown. */
  readonly translate: (text: string) => string
  /** Translates a text about an attribute without its name, such as "can't be blank". */
  readonly describe: (text: string) => string
}

/** Catalogs by tag; English alone by default. */
export const Catalogs = Context.Reference<ReadonlyMap<string, Catalog>>("murmuration/services/languages/Catalogs", {
  defaultValue: () => new Map()
})

/** Maximum problems in an error, and maximum characters of a text; longer ones stay untranslated. */
const problemsMax = 50
const charactersMax = 4_000

/** Text before the problems of a request. */
const validation = "Validation failed: {0}"

const placeholder = /\{(\d|a)\}/g
/** Pattern of a parameter with its path: `poll[options][0]`. */
const parameter = "[a-z][a-z_]*(?:\\[\\w*\\])*"
const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

export const catalogOf = (tag: string, { attributes, messages, texts }: CatalogFile): Catalog => {
  const plain = new Map(Object.entries(texts).filter(([text]) => !text.includes("{")))
  const names = Object.keys(attributes).toSorted((a, b) => b.length - a.length).map(literal).join("|")
  // Longest first, so that patterns of little more than a value match last.
  const patterns = Object.entries(texts).filter(([text]) => text.includes("{") && text !== validation)
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([text, translated]) => {
      const parts = text.split(placeholder)
      const source = parts.map((part, index) =>
        index % 2 === 0 ? literal(part) : part === "a" ? `(${names}|${parameter}|)` : "(.+?)"
      ).join("")
      return {
        pattern: new RegExp(`^${source}$`, "s"),
        holders: parts.filter((_, index) => index % 2 === 1),
        translated
      }
    })

  const filled = (text: string, among: typeof patterns): string | undefined => {
    for (const { holders, pattern, translated } of among) {
      const match = pattern.exec(text)
      if (match === null) continue
      const found = new Map(holders.map((holder, index) => [holder, match[index + 1] ?? ""]))
      return translated.replace(placeholder, (_, holder: string) => {
        const value = found.get(holder) ?? ""
        return holder === "a" ? attributes[value] ?? value : value
      })
    }
    return undefined
  }
  const named = patterns.filter(({ holders }) => holders.includes("a"))
  const others = patterns.filter(({ holders }) => !holders.includes("a"))
  const introduced = new RegExp(`^(${names}) (.+)$`, "s")

  const one = (text: string): string | undefined =>
    plain.get(text) ?? filled(text, named) ?? of(text) ?? filled(text, others)
  /** Translates an attribute followed by a complete text: "Thumbnail 10x9000 images are not supported". */
  const of = (text: string): string | undefined => {
    const [, name = "", rest = ""] = introduced.exec(text) ?? []
    const translated = plain.get(rest) ?? filled(rest, others)
    return name === "" || translated === undefined ? undefined : `${attributes[name]}: ${translated}`
  }

  /** Translates problems separated by commas; a problem may contain commas itself. */
  const problems = (text: string): string => {
    const pieces = text.split(", ")
    if (pieces.length > problemsMax) return text
    const done: Array<string> = []
    for (let from = 0; from < pieces.length;) {
      let to = pieces.length
      let found: string | undefined
      for (; to > from && found === undefined; to--) found = one(pieces.slice(from, to).join(", "))
      done.push(found ?? pieces[from] ?? "")
      from = found === undefined ? from + 1 : to + 1
    }
    return done.join(", ")
  }

  return {
    ...messagesOf(tag, messages),
    tag,
    translate: (text) => {
      if (text.length > charactersMax) return text
      const head = validation.slice(0, -"{0}".length)
      return text.startsWith(head)
        ? (texts[validation] ?? validation).replace("{0}", () => problems(text.slice(head.length)))
        : one(text) ?? text
    },
    describe: (text) => text.length > charactersMax ? text : (one(` ${text}`) ?? one(text) ?? text).trim()
  }
}

/** Catalog without translations. */
export const english = catalogOf("en", { attributes: {}, texts: {}, messages: {} })
