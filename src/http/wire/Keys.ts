import type { SnakeCase } from "../../services/database/Columns.ts"
import type { IdNumber } from "./Common.ts"

/*
 * The program uses camelCase, the API snake_case. This is the only place that converts: values have the program's
 * names, are checked against the API type, and are converted when serialised.
 */

type CamelKey<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : Key

/** Name on the wire of one of the program's keys. */
export type WireKey<Key> = SnakeCase<Key>

declare global {
  interface JSON {
    /** A JSON number whose digits are written verbatim (ECMA-262, JSON.rawJSON); TypeScript does not know it yet. */
    rawJSON: (text: string) => object
  }
}

/** A wire type with the program's key names. */
export type Values<Wire> = Wire extends IdNumber ? bigint :
  Wire extends ReadonlyArray<infer Item> ? ReadonlyArray<Values<Item>>
  : Wire extends object ?
    { readonly [Key in keyof Wire as Key extends string ? CamelKey<Key> : Key]: Values<Wire[Key]> }
  : Wire

declare const written: unique symbol
interface Written<in out Wire> {
  readonly [written]: (value: Wire) => Wire
}

/** Serialised JSON of a value of exactly the wire type `Wire`, ready to send. */
export type JsonOf<Wire> = string & Written<Wire>

/** Serialised JSON of one of the alternatives of `Wire`, or of their union. */
export type JsonOfAny<Wire> = JsonOf<Wire> | (Wire extends unknown ? JsonOf<Wire> : never)

/** Serialised values that may also be available as bytes: encoding the text takes longer than assembling a page. */
export interface JsonList<Wire> extends ReadonlyArray<JsonOf<Wire>> {
  readonly bytes?: () => ReadonlyArray<Uint8Array>
}

/** Adds bytes to a list; `bytes` returns each value in UTF-8. */
export const withBytes = <Wire>(
  items: ReadonlyArray<JsonOf<Wire>>,
  bytes: () => ReadonlyArray<Uint8Array>
): JsonList<Wire> => Object.assign([...items], { bytes })

/**
 * Declares a text to be the JSON of `Wire`, for JSON that is assembled from pieces or cut from other JSON. A test
 * decodes each of them with its schema.
 */
export function asJsonOf<Wire>(text: string): JsonOf<Wire>
export function asJsonOf(text: string): string {
  return text
}

/** Members of the wire type, by the program's key names. */
type Members<Wire> = { readonly [Key in keyof Wire as Key extends string ? CamelKey<Key> : Key]-?: Wire[Key] }

/** Keys that are data (languages, sizes) contain other characters and are not converted. */
const word = /^[a-z][a-zA-Z0-9]*$/

const snakeKeys = new Map<string, string>()
const snakeKey = (key: string): string => {
  const known = snakeKeys.get(key)
  if (known !== undefined) return known
  const wireKey = word.test(key) ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key
  // Bounded, although keys come only from the program, and data keys are few and repeat.
  if (snakeKeys.size < 1_000) snakeKeys.set(key, wireKey)
  return wireKey
}

const snake = (value: unknown): unknown => {
  if (typeof value === "bigint") return JSON.rawJSON(String(value))
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(snake)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeKey(key), snake(inner)]))
}

/** Serialises a wire value. */
export const json = <Wire>(values: Values<Wire>): JsonOf<Wire> => asJsonOf(JSON.stringify(snake(values)))

/** Serialises a value that already has the wire's key names. */
export const encode = <Wire>(value: Wire): JsonOf<Wire> => asJsonOf(JSON.stringify(value))

/** Serialised `null`, for members that may be null. */
export const none = encode(null)

/**
 * Serialises an object from `values` and members that are serialised already. `Wire` is the type of the whole object,
 * so a missing or misspelt member does not compile.
 */
export const withMembers = <Wire, Key extends keyof Members<Wire> & keyof Values<Wire> & string>(
  values: Omit<Values<Wire>, Key>,
  members: { readonly [Name in Key]: JsonOfAny<Members<Wire>[Name]> }
): JsonOf<Wire> => {
  let text = JSON.stringify(snake(values)).slice(0, -1)
  for (const [key, member] of Object.entries<string>(members)) {
    text += `${text === "{" ? "" : ","}"${snakeKey(key)}":${member}`
  }
  return asJsonOf(`${text}}`)
}

/** Adds members to a serialised JSON object. */
export const extend = <Wire>(text: string, values: Partial<Values<Wire>>): JsonOf<Wire> =>
  asJsonOf(`${text.slice(0, -1)},${JSON.stringify(snake(values)).slice(1)}`)

/**
 * Joins serialised members into a JSON list. Appending builds one flat string in the end; `join` would also flatten
 * every member, and copy the whole twice.
 */
export const list = <Wire>(items: ReadonlyArray<JsonOf<Wire>>): JsonOf<ReadonlyArray<Wire>> => {
  let text = "["
  for (const item of items) text += text === "[" ? item : `,${item}`
  return asJsonOf(`${text}]`)
}

/** Matches a key of serialised JSON that has several words; quotes inside of strings are escaped. */
const snakeWord = /"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)":/g

/**
 * Reads serialised JSON with the program's key names, for pages. Ids that are numbers are not read exactly; only
 * entities without them are read.
 */
export const read = <Wire>(text: JsonOf<Wire>): Values<Wire> =>
  JSON.parse(text.replace(
    snakeWord,
    (_, key: string) => `"${key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}":`
  ))
