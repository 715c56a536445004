import { Schema } from "effect"
import qs from "qs"
import { type Excess, excessOf } from "../../services/outbound/BoundedJson.ts"

/** Maximum parameters of a request. */
export const parametersMax = 1_000
/** Maximum values of an array. */
export const arrayValuesMax = 500
/** Maximum depth of objects and arrays in form parameters. */
export const formDepthMax = 5
/** Maximum characters of a name. */
const nameCharactersMax = 512

/** A JSON value. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** Parameters that no well-behaved client sends. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/**
 * Parses names with Rails' brackets: `a[]=1`, `a[0][b]=2`, `a[b][c]=3`, `a[][b]=4&a[][c]=5`. The last value of a
 * repeated name counts. `qs` does the nesting.
 */
export const nest = (pairs: Iterable<readonly [name: string, value: string]>): Json => {
  const flat = new Map<string, string | Array<string>>()
  const elements = new Map<string, number>()
  let count = 0
  for (const [given, value] of pairs) {
    if (++count > parametersMax) throw new Refused({ text: "Too many parameters" })
    if (given.length > nameCharactersMax) throw new Refused({ text: "Parameter name is too long" })
    // `qs` would silently drop these.
    for (const part of given.split(/[[\]]/)) refuseForbidden(part)
    const name = numbered(given, flat, elements)
    const values = flat.get(name)
    if (!name.endsWith("[]")) flat.set(name, value)
    else if (Array.isArray(values)) values.push(value)
    else flat.set(name, [value])
  }
  for (const values of flat.values()) {
    if (values.length > arrayValuesMax && Array.isArray(values)) throw new Refused({ text: "Too many values" })
  }
  try {
    return clean(qs.parse(nullProto(flat), nesting))
  } catch (error) {
    throw error instanceof RangeError ? new Refused({ text: "Parameters are nested too deeply" }) : error
  }
}

const nesting: qs.IParseOptions = {
  depth: formDepthMax,
  strictDepth: true,
  arrayLimit: arrayValuesMax,
  plainObjects: true,
  throwOnLimitExceeded: true
}

/** Numbers the elements of `a[][b]`: a new element begins when a name is repeated. */
const numbered = (name: string, seen: ReadonlyMap<string, unknown>, elements: Map<string, number>): string => {
  const at = name.indexOf("[][")
  if (at === -1) return name
  const [list, rest] = [name.slice(0, at), name.slice(at + 2)]
  const current = elements.get(list) ?? 0
  const element = seen.has(`${list}[${current}]${rest}`) && !rest.endsWith("[]") ? current + 1 : current
  elements.set(list, element)
  return `${list}[${element}]${rest}`
}

const nullProto = (flat: ReadonlyMap<string, string | ReadonlyArray<string>>): Record<string, string> =>
  Object.assign(Object.create(null), Object.fromEntries(flat))

/**
 * Parses an urlencoded text of at most `parametersMax` pairs. They are counted first, because `URLSearchParams` takes
 * seconds for a megabyte of `&`.
 */
export const pairs = (text: string): URLSearchParams => {
  let count = 1
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++count > parametersMax) throw new Refused({ text: "Too many parameters" })
  }
  return new URLSearchParams(text)
}

/** Parses a JSON body; an empty body is the empty object. `excess` is null if the caller has checked the limits. */
export const fromJson = (text: string, excess: Excess | null = excessOf(text) ?? null): Json => {
  if (excess !== null) throw new Refused({ text: excesses[excess] })
  if (text.trim() === "") return {}
  let value: Json
  try {
    value = /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
  } catch {
    throw new Refused({ text: "Error occurred while parsing request parameters" })
  }
  return clean(value)
}

/** Keeps the digits of an id that was sent as a number, as a text. */
const exact = (_name: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^\d+$/.test(source ?? "") ? source : value

const excesses: Record<Excess, string> = {
  "too deep": "Parameters are nested too deeply",
  "too large": "Too many parameters"
}

const forbiddenNames = new Set(["__proto__", "constructor", "prototype"])

const refuseForbidden = (name: string) => {
  if (forbiddenNames.has(name)) throw new Refused({ text: `Parameter name is not allowed: ${name}` })
}

/**
 * Turns objects with numeric names into arrays (`fields_attributes` comes as either). Makes all texts storable for the
 * database and for other servers, or refuses them.
 */
const clean = (value: unknown): Json => {
  if (typeof value === "string") return text(value)
  if (typeof value === "number" || typeof value === "boolean") return value
  if (typeof value !== "object" || value === null) return null
  if (Array.isArray(value)) return value.map(clean)
  const entries = Object.entries(value).map(([name, element]) => {
    refuseForbidden(name)
    return [text(name), clean(element)] as const
  })
  if (entries.length > 0 && entries.every(([name]) => /^\d{1,4}$/.test(name))) {
    return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, element]) => element)
  }
  return Object.fromEntries(entries)
}

const text = (given: string): string => {
  if (given.includes("\0")) throw new Refused({ text: "Text contains a null byte" })
  return given.toWellFormed()
}

const plain = /^(?!constructor=|prototype=)[a-z][a-z_]*=[\w.-]*$/

/** Returns true if `flatten` would not change a query: it is empty, or one plain name with a plain value. */
export const isFlat = (search: string): boolean => search === "" || plain.test(search)

/**
 * Flattens the query of a reading request to the names that endpoints declare: `types[]=a&types[]=b` and `types[0]=a`
 * become `types=a&types=b`. The last value of a repeated plain name counts.
 */
export const flatten = (search: string): string => {
  const flat = new URLSearchParams()
  for (const [given, value] of pairs(search)) {
    const name = given.replace(/\[\d{0,4}\]$/, "")
    refuseForbidden(name)
    if (name === given) flat.set(name, text(value))
    else flat.append(name, text(value))
  }
  return flat.toString()
}
