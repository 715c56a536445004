import { Result } from "effect"
import type { IpNetwork } from "effect/net"
import { languageTag } from "../../instance/Languages.ts"
import { destination } from "../../outbound/Destinations.ts"

/* Reads documents of others, where everything may be of any type. A value of a wrong type is absent. */

/** A JSON object. */
export type Foreign = Readonly<Record<string, unknown>>

/** Characters of an address; files are at longer ones than people and posts are. */
const urlCharactersMax = 2_048

/** Bytes of an id: of a text that packs badly an index of Postgres takes 2,704. */
const idBytesMax = 2_048

/** Members of a list that are looked at. */
const listMax = 256

export const asForeign = (value: unknown): Foreign | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined

/** A text, cut after `charactersMax`, never within a character; without NUL, which Postgres takes in no text. */
export const asText = (value: unknown, charactersMax: number): string | undefined => {
  if (typeof value !== "string") return undefined
  const cut = value.slice(0, charactersMax).replaceAll("\0", "")
  return cut.isWellFormed() ? cut : cut.toWellFormed().replace(/\uFFFD$/, "")
}

/** One value or several, as a list. */
export const asList = (value: unknown): ReadonlyArray<unknown> =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value.slice(0, listMax) : [value]

/** Whether a text can be an id here: Postgres takes it, as it is and in its indexes. */
export const isId = (text: string): boolean =>
  (text.length * 3 <= idBytesMax || Buffer.byteLength(text) <= idBytesMax) && text.isWellFormed() &&
  !text.includes("\0")

/** The one value of a list of one; anything else as it is. */
export const single = (value: unknown): unknown => Array.isArray(value) && value.length === 1 ? value[0] : value

/** The id in a link: a text, or an object with one; in a list of one, too. */
export const idOf = (value: unknown): string | undefined => {
  const link = single(value)
  const id = typeof link === "string" ? link : asForeign(link)?.["id"]
  return typeof id === "string" && isId(id) ? id : undefined
}

export const idsOf = (value: unknown): ReadonlyArray<string> => asList(value).flatMap((item) => idOf(item) ?? [])

/** Whether a type, which may be a list of types, is one of these. */
export const typeOf = (document: Foreign, ...types: ReadonlyArray<string>): string | undefined =>
  asList(document["type"]).find((type): type is string => typeof type === "string" && types.includes(type))

/** The most that others are believed to have of anything: Postgres keeps four bytes, and what is added here fits, too. */
const countMax = 1_000_000_000

/** A number of things as others state it. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? Math.min(value, countMax) : undefined

/**
 * A text that may come in several languages. The language is that of the one that is taken, where the document says it.
 */
export const worded = (document: Foreign, field: "content" | "name" | "summary", charactersMax: number) => {
  const versions = Object.entries(asForeign(document[`${field}Map`]) ?? {})
  const plain = asText(document[field], charactersMax)
  const [tag, version] = versions.find(([, text]) => text === document[field]) ?? versions[0] ?? []
  const language = tag === undefined || tag === "und" ? null : languageTag(tag) ?? null
  return { text: plain ?? asText(version, charactersMax) ?? "", language }
}

/** Addresses as we believe them in documents: what we could ask for, and nothing else (row 14); as they are written here, too. */
export const urlReader = (allowed: ReadonlyArray<IpNetwork.IpNetwork>) => (value: unknown): URL | undefined => {
  if (typeof value !== "string" || value.length > urlCharactersMax) return undefined
  const url = Result.getOrElse(destination(allowed, value), () => undefined)
  return url === undefined || url.href.length > urlCharactersMax ? undefined : url
}

export type ReadUrl = ReturnType<typeof urlReader>
