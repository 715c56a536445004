import { html as tagged, raw } from "hono/html"

/*
 * Template literals for pages, which are few and have no client code. `hono/html` escapes every value by default; it is
 * a maintained library of one file without a build step. A value stays HTML only if `html` made it, or `raw` declared
 * it so.
 */

/** A fragment of a page. */
export type Html = ReturnType<typeof raw>

/** Returns HTML with every value escaped; lists are joined, and `false`, `null` and `undefined` are empty. */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Html => {
  const fragment = tagged(strings, ...values)
  // The result is a promise only if a value is one.
  if (fragment instanceof Promise) throw new TypeError("A page has no values that come later")
  return fragment
}

export { raw }
