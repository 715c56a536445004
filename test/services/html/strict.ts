/**
 * Returns problems of HTML that we serve, by a grammar so strict that all parsers agree. Only allow-listed elements and
 * attributes, quoted attributes, no comment, no stray angle bracket, only allowed schemes.
 */
export const problems = (html: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let open = 0
  for (
    const [piece, closing, name, attributes] of html.matchAll(
      /<(\/?)([a-z0-9]+)((?: [a-z]+="[^"<>]*"| reversed)*)(?: \/)?>|[<>]/g
    )
  ) {
    if (name === undefined) found.push(`stray ${piece} in ${html}`)
    else if (!elements.has(name)) found.push(`element ${piece}`)
    else {
      if (name !== "br") open += closing === "/" ? -1 : 1
      if (open < 0) found.push(`closes nothing: ${piece}`)
      found.push(...ofAttributes(attributes ?? ""))
    }
  }
  if (open !== 0) found.push("elements are left open")
  return found
}

const elements = new Set("p br span a del s pre blockquote code b strong u i em ul ol li ruby rt rp".split(" "))
const schemes = /^(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|xmpp|magnet|gemini):/i
const classes = /^(?:(?:[hpue]-[\w-]+|dt-[\w-]+|mention|hashtag|ellipsis|invisible) ?)*$/

const rules: Readonly<Record<string, (value: string) => boolean>> = {
  href: (value) => schemes.test(value),
  class: (value) => classes.test(value),
  rel: (value) => /^[a-z ]*$/.test(value),
  target: (value) => value === "_blank",
  translate: (value) => value === "no",
  lang: (value) => /^[a-zA-Z0-9-]*$/.test(value),
  start: () => true,
  reversed: () => true,
  value: () => true
}

const ofAttributes = (attributes: string): ReadonlyArray<string> =>
  [...attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)]
    .filter(([, name = "", value = ""]) => rules[name]?.(value) !== true)
    .map(([attribute]) => `attribute${attribute}`)
