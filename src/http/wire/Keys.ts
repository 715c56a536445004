import type { IdNumber } from "./Common.ts"

/*
 * The program speaks camelCase, the wire snake_case. Here is the only place where one becomes the other: a value is
 * written with the names of the program, checked against the wire's type, and turned on its way out.
 */

type CamelKey<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : Key

/** The name on the wire of a key of the program. */
export type WireKey<Key> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireKey<Rest>}`
  : Key

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
export const json = <Wire>(values: Values<Wire>): string => JSON.stringify(snake(values))

/**
 * The JSON object of `values` together with members whose JSON is ready already. `Wire` is the whole object's type, so
 * that a missing or misspelt member does not compile.
 */
export const splice = <Wire, Ready extends keyof Values<Wire> & string>(
  values: Omit<Values<Wire>, Ready>,
  ready: { readonly [Key in Ready]: string }
): string => {
  const head = JSON.stringify(snake(values)).slice(0, -1)
  const tail = Object.entries<string>(ready).map(([key, text]) => `${JSON.stringify(snakeKey(key))}:${text}`).join(",")
  return tail === "" ? `${head}}` : head === "{" ? `{${tail}}` : `${head},${tail}}`
}

/** A JSON object that is ready with some more members. */
export const extend = <Wire>(ready: string, values: Partial<Values<Wire>>): string =>
  `${ready.slice(0, -1)},${JSON.stringify(snake(values)).slice(1)}`

/** A JSON list of members whose JSON is ready. */
export const list = (items: ReadonlyArray<string>): string => `[${items.join(",")}]`
