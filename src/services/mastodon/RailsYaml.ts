/* Values of Mastodon's settings: one YAML scalar each, as Ruby's Psych writes it. */

type Scalar = string | number | boolean | null

/** Returns a text without the characters `dropped` at its end. */
const withoutEnd = (text: string, dropped: string): string => {
  let end = text.length
  while (end > 0 && dropped.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

const breaksIn = (space: string): number => space.split("\n").length - 1

/** Folds white space of a flow scalar: a single line break is a space, and the first of several is dropped (YAML 1.2, 6.5). */
const folded = (space: string): string => {
  const breaks = breaksIn(space)
  return breaks === 0 ? space : breaks === 1 ? " " : "\n".repeat(breaks - 1)
}

/** Joins the lines of a flow scalar without escapes. */
const joined = (text: string): string => text.replace(/[ \t\n]+/g, folded)

const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\u0007",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\u001B",
  N: "\u0085",
  "_": "\u00A0",
  L: "\u2028",
  P: "\u2029"
}

/** An escape, an escaped line break with the blanks and breaks after it, or white space. */
const piece = /\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\(\n[ \t\n]*)|\\(.)|[ \t\n]+/g
const codePointMax = 0x10_FFFF

const doubleQuoted = (text: string) =>
  text.replace(piece, (all: string, two?: string, four?: string, eight?: string, space?: string, one?: string) => {
    const code = two ?? four ?? eight
    if (code !== undefined) return String.fromCodePoint(Math.min(codePointMax, parseInt(code, 16)))
    if (space !== undefined) return "\n".repeat(breaksIn(space) - 1)
    return one === undefined ? folded(all) : escapes[one] ?? one
  })

/** Returns a literal block scalar; its header may have the indentation and the handling of last line breaks. */
const block = (header: string, lines: ReadonlyArray<string>) => {
  const stated = /\d/.exec(header)?.[0]
  const first = lines.find((line) => line.trim() !== "")
  const indentation = stated !== undefined
    ? Number(stated)
    : first === undefined
    ? Infinity
    : first.length - first.replace(/^ +/, "").length
  const text = lines.map((line) => line.slice(indentation)).join("\n")
  const ended = withoutEnd(text, "\n")
  return header.includes("+") ? text : header.includes("-") || ended === "" ? ended : `${ended}\n`
}

const plain = (text: string): Scalar => {
  if (text === "" || text === "~" || text === "null") return null
  if (text === "true" || text === "false") return text === "true"
  return /^-?(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text
}

/** Reads a document of one scalar, as Ruby writes it; undefined for lists, objects and other documents. */
export const parseScalar = (document: string): Scalar | undefined => {
  const [, body] = /^---(?:$|[ \n])([^]*)$/.exec(document.replaceAll("\r\n", "\n")) ?? []
  if (body === undefined) return undefined
  const text = body.replace(/(^|\n)\.\.\.\s*$/, "$1")
  const [first = "", ...lines] = text.split("\n")
  if (/^\|[1-9]?[+-]?$/.test(first.trim())) return block(first, lines)
  const flow = text.trim()
  const [, single] = /^'((?:[^']|'')*)'$/.exec(flow) ?? []
  if (single !== undefined) return joined(single).replaceAll("''", "'")
  const [, double] = /^"((?:[^"\\]|\\[^])*)"$/.exec(flow) ?? []
  if (double !== undefined) return doubleQuoted(double)
  return /^[!&*|>'"[\]{}#%@`]|^[-?:](?:\s|$)|:(?:\s|$)|^- /m.test(flow) ? undefined : plain(joined(flow))
}
