import { html as tagged, raw } from "hono/html"

/*
 * Pages are few and have no client code. A template literal that escapes every value by default is all they need.
 * `hono/html` is that: a maintained library of one file without a build step. A value stays HTML only where it was made
 * by `html` itself, or was declared to be by `raw`.
 */

/** A piece of a page. */
export type Html = ReturnType<typeof raw>

/** HTML with every value escaped; lists are joined, and `false`, `null` and `undefined` are nothing. */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Html => {
  const made = tagged(strings, ...values)
  // Only a value that is a promise itself makes the result one.
  if (made instanceof Promise) throw new TypeError("A page has no values that come later")
  return made
}

export { raw }
