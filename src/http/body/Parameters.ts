import { Schema } from "effect"
import qs from "qs"
import { type Excess, excessOf } from "../../services/outbound/BoundedJson.ts"

/** Names and values of one request. */
export const parametersMax = 1_000
/** Values of one array. */
export const arrayValuesMax = 500
/** Levels of objects and arrays in parameters of a form. */
export const formDepthMax = 5
/** Characters of a name. */
const nameCharactersMax = 512

/** A value as JSON knows it. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** What a request says is not something that any client means to say. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/**
 * The value that names with Rails' brackets describe: `a[]=1`, `a[0][b]=2`, `a[b][c]=3`, `a[][b]=4&a[][c]=5`. Of a name
 * that comes twice the last value stands. `qs` does the nesting.
 */
export const nest = (pairs: Iterable<readonly [name: string, value: string]>): Json => {
  const flat = new Map<string, string | Array<string>>()
  const elements = new Map<string, number>()
  let count = 0
  for (const [given, value] of pairs) {
    if (++count > parametersMax) throw new Refused({ text: "Too many parameters" })
    if (given.length > nameCharactersMax) throw new Refused({ text: "Parameter name is too long" })
    // `qs` would drop these in silence.
    for (const part of given.split(/[[\]]/)) refusePoison(part)
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
    return clean(qs.parse(nullProto(flat), nesting) as Json)
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

/** `a[][b]` describes elements one after the other: a new one begins where a name comes again. */
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
 * Names and values of an urlencoded text, at most `parametersMax`. It is looked at before it is taken apart, because
 * `URLSearchParams` takes seconds for a megabyte of `&`.
 */
export const pairs = (text: string): URLSearchParams => {
  let count = 1
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++count > parametersMax) throw new Refused({ text: "Too many parameters" })
  }
  return new URLSearchParams(text)
}

/** The value of a JSON body; an empty body is the empty object. `excess` is null where it was looked for and there is none. */
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

/** An id that was sent as a number keeps its digits, as a text. */
const exact = (_name: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^\d+$/.test(source ?? "") ? source : value

const excesses: Record<Excess, string> = {
  "too deep": "Parameters are nested too deeply",
  "too large": "Too many parameters"
}

const poisonous = new Set(["__proto__", "constructor", "prototype"])

const refusePoison = (name: string) => {
  if (poisonous.has(name)) throw new Refused({ text: `Parameter name is not allowed: ${name}` })
}

/**
 * The value with objects of numeric names as arrays (`fields_attributes` comes as either). Its texts are such that a
 * database and every other server can hold them.
 */
const clean = (value: Json): Json => {
  if (typeof value === "string") return text(value)
  if (typeof value !== "object" || value === null) return value
  if (isList(value)) return value.map(clean)
  const entries = Object.entries(value).map(([name, element]) => {
    refusePoison(name)
    return [text(name), clean(element)] as const
  })
  if (entries.length > 0 && entries.every(([name]) => /^\d{1,4}$/.test(name))) {
    return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, element]) => element)
  }
  return Object.fromEntries(entries)
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const text = (given: string): string => {
  if (given.includes("\0")) throw new Refused({ text: "Text contains a null byte" })
  return given.toWellFormed()
}

const plain = /^(?!constructor=|prototype=)[a-z][a-z_]*=[\w.-]*$/

/** Whether `flatten` would leave a query as it is: empty, or one plain name with a plain value. */
export const isFlat = (search: string): boolean => search === "" || plain.test(search)

/**
 * The query of a reading request with plain names, as endpoints declare them: `types[]=a&types[]=b` and `types[0]=a`
 * become `types=a&types=b`; of a plain name that comes twice the last value stands.
 */
export const flatten = (search: string): string => {
  const flat = new URLSearchParams()
  for (const [given, value] of pairs(search)) {
    const name = given.replace(/\[\d{0,4}\]$/, "")
    refusePoison(name)
    if (name === given) flat.set(name, text(value))
    else flat.append(name, text(value))
  }
  return flat.toString()
}
