import type { SnakeCase } from "../../services/Columns.ts"
import type { IdNumber } from "./Common.ts"

/*
 * The program speaks camelCase, the wire snake_case. Here is the only place where one becomes the other: a value is
 * written with the names of the program and checked against the wire's type. It is turned on its way out.
 */

type CamelKey<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : Key

/** The name on the wire of a key of the program. */
export type WireKey<Key> = SnakeCase<Key>

declare global {
  interface JSON {
    /** A JSON number whose digits are written as they stand (ECMA-262, JSON.rawJSON), which TypeScript does not know yet. */
    rawJSON: (text: string) => object
  }
}

/** A wire type as the program writes it. */
export type Values<Wire> = Wire extends IdNumber ? bigint :
  Wire extends ReadonlyArray<infer Item> ? ReadonlyArray<Values<Item>>
  : Wire extends object ?
    { readonly [Key in keyof Wire as Key extends string ? CamelKey<Key> : Key]: Values<Wire[Key]> }
  : Wire

declare const written: unique symbol
interface Written<in out Wire> {
  readonly [written]: (value: Wire) => Wire
}

/** The JSON of a value of the wire type `Wire`, and of no other: a text that is ready to be sent. */
export type Ready<Wire> = string & Written<Wire>

/** The JSON of one of the alternatives of `Wire`, or of any. */
export type ReadyAs<Wire> = Ready<Wire> | (Wire extends unknown ? Ready<Wire> : never)

/** Ready values that may be at hand as bytes, too: to make these of a text takes longer than to put a page together. */
export interface ReadyList<Wire> extends ReadonlyArray<Ready<Wire>> {
  readonly bytes?: () => ReadonlyArray<Uint8Array>
}

/** The same values, of which `bytes` gives each in UTF-8. */
export const withBytes = <Wire>(
  items: ReadonlyArray<Ready<Wire>>,
  bytes: () => ReadonlyArray<Uint8Array>
): ReadyList<Wire> => Object.assign([...items], { bytes })

/**
 * Declares a text to be the JSON of `Wire`: for what is put together from pieces, and parts of what was. A test decodes
 * each of them with its schema.
 */
export function ready<Wire>(text: string): Ready<Wire>
export function ready(text: string): string {
  return text
}

/** Members of the wire type as the program names them. */
type Members<Wire> = { readonly [Key in keyof Wire as Key extends string ? CamelKey<Key> : Key]-?: Wire[Key] }

/** Keys that are data (languages, sizes) hold other characters and stay as they are. */
const word = /^[a-z][a-zA-Z0-9]*$/

const snakeKeys = new Map<string, string>()
const snakeKey = (key: string): string => {
  const known = snakeKeys.get(key)
  if (known !== undefined) return known
  const made = word.test(key) ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key
  // Bounded: only names that the program wrote down come here, and data keys are few and repeat.
  if (snakeKeys.size < 1_000) snakeKeys.set(key, made)
  return made
}

const snake = (value: unknown): unknown => {
  if (typeof value === "bigint") return JSON.rawJSON(String(value))
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(snake)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeKey(key), snake(inner)]))
}

/** The JSON of a wire value. */
export const json = <Wire>(values: Values<Wire>): Ready<Wire> => ready(JSON.stringify(snake(values)))

/** The JSON of a value that has the names of the wire already. */
export const encode = <Wire>(value: Wire): Ready<Wire> => ready(JSON.stringify(value))

/** The JSON of nothing, where a member may be absent in so many words. */
export const none = encode(null)

/**
 * The JSON object of `values` together with members whose JSON is ready already. `Wire` is the whole object's type, so
 * that a missing or misspelt member does not compile.
 */
export const splice = <Wire, Key extends keyof Members<Wire> & keyof Values<Wire> & string>(
  values: Omit<Values<Wire>, Key>,
  members: { readonly [Name in Key]: ReadyAs<Members<Wire>[Name]> }
): Ready<Wire> => {
  let text = JSON.stringify(snake(values)).slice(0, -1)
  for (const [key, member] of Object.entries<string>(members)) {
    text += `${text === "{" ? "" : ","}"${snakeKey(key)}":${member}`
  }
  return ready(`${text}}`)
}

/** A JSON object that is ready with some more members. */
export const extend = <Wire>(text: string, values: Partial<Values<Wire>>): Ready<Wire> =>
  ready(`${text.slice(0, -1)},${JSON.stringify(snake(values)).slice(1)}`)

/**
 * A JSON list of members whose JSON is ready. Appending makes one string in the end. `join` would make one of every member,
 * too, and then two of the whole.
 */
export const list = <Wire>(items: ReadonlyArray<Ready<Wire>>): Ready<ReadonlyArray<Wire>> => {
  let text = "["
  for (const item of items) text += text === "[" ? item : `,${item}`
  return ready(`${text}]`)
}
