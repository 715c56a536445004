import { Result } from "effect"
import type { IpNetwork } from "effect/net"
import { languageTag } from "../../instance/Languages.ts"
import { destination } from "../../outbound/Destinations.ts"

/* Reads remote documents, in which any value may have any type. A value of a wrong type counts as absent. */

/** A JSON object. */
export type Foreign = Readonly<Record<string, unknown>>

/** Maximum characters of a URL; files have longer ones than accounts and posts. */
const urlCharactersMax = 2_048

/** Maximum bytes of an id: a Postgres index entry holds at most 2,704 of incompressible text. */
const idBytesMax = 2_048

/** Maximum members of a list that are read. */
const listMax = 256

export const asForeign = (value: unknown): Foreign | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined

/** Returns a text cut after `charactersMax`, never within a surrogate pair, and without NUL, which Postgres rejects. */
export const asText = (value: unknown, charactersMax: number): string | undefined => {
  if (typeof value !== "string") return undefined
  const cut = value.slice(0, charactersMax).replaceAll("\0", "")
  return cut.isWellFormed() ? cut : cut.toWellFormed().replace(/\uFFFD$/, "")
}

/** Returns one value or several as a list. */
export const asList = (value: unknown): ReadonlyArray<unknown> =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value.slice(0, listMax) : [value]

/** Returns true if a text can be stored as an id: Postgres must accept it, also in its indexes. */
export const isId = (text: string): boolean =>
  (text.length * 3 <= idBytesMax || Buffer.byteLength(text) <= idBytesMax) && text.isWellFormed() &&
  !text.includes("\0")

/** Returns the only member of a list of one; any other value unchanged. */
export const single = (value: unknown): unknown => Array.isArray(value) && value.length === 1 ? value[0] : value

/** Returns the id in a link: a text or an object with an id, also in a list of one. */
export const idOf = (value: unknown): string | undefined => {
  const link = single(value)
  const id = typeof link === "string" ? link : asForeign(link)?.["id"]
  return typeof id === "string" && isId(id) ? id : undefined
}

export const idsOf = (value: unknown): ReadonlyArray<string> => asList(value).flatMap((item) => idOf(item) ?? [])

/** Returns the first of the document's types that is one of `types`. */
export const typeOf = (document: Foreign, ...types: ReadonlyArray<string>): string | undefined =>
  asList(document["type"]).find((type): type is string => typeof type === "string" && types.includes(type))

/** Maximum accepted count: Postgres stores four bytes, and local counts are added to it. */
const countMax = 1_000_000_000

/** Parses a count that another server states, up to `countMax`. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? Math.min(value, countMax) : undefined

/**
 * Returns a text that may exist in several languages, with the language of the chosen version if the document states
 * it.
 */
export const worded = (document: Foreign, field: "content" | "name" | "summary", charactersMax: number) => {
  const versions = Object.entries(asForeign(document[`${field}Map`]) ?? {})
  const plain = asText(document[field], charactersMax)
  const [tag, version] = versions.find(([, text]) => text === document[field]) ?? versions[0] ?? []
  const language = tag === undefined || tag === "und" ? null : languageTag(tag) ?? null
  return { text: plain ?? asText(version, charactersMax) ?? "", language }
}

/**
 * Creates a reader of URLs in documents. It accepts only URLs that this server may request (row 14), also bounded in
 * normalised form.
 */
export const urlReader = (allowed: ReadonlyArray<IpNetwork.IpNetwork>) => (value: unknown): URL | undefined => {
  if (typeof value !== "string" || value.length > urlCharactersMax) return undefined
  const url = Result.getOrElse(destination(allowed, value), () => undefined)
  return url === undefined || url.href.length > urlCharactersMax ? undefined : url
}

export type ReadUrl = ReturnType<typeof urlReader>
