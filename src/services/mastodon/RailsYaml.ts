/* Values of Mastodon's settings: one YAML scalar each, as Ruby's Psych writes it. */

type Scalar = string | number | boolean | null

/** Returns a text without the characters `dropped` at its end. */
const withoutEnd = (text: string, dropped: string): string => {
  let end = text.length
  while (end > 0 && dropped.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

const blanks = " \t"

/** Drops blanks before line breaks, but for an escaped one. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  return lines.map((line, at) => {
    if (at === lines.length - 1) return line
    const kept = withoutEnd(line, blanks)
    return kept.endsWith("\\") ? line.slice(0, kept.length + 1) : kept
  })
}

/** Joins the lines of a flow scalar: one line break is a space, further ones are line breaks (YAML 1.2, 6.5). */
const folded = (text: string): string => {
  const [first = "", ...rest] = linesOf(text)
  let [joined, breaks] = [first, 0]
  for (const [at, given] of rest.entries()) {
    const line = given.replace(/^[ \t]+/, "")
    breaks++
    if (line === "" && at < rest.length - 1) continue
    joined += (breaks === 1 ? " " : "\n".repeat(breaks - 1)) + line
    breaks = 0
  }
  return joined
}

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

/** An escape, an escaped line break with the indentation of the next line, or a line break that is a space. */
const piece = /\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\\n[ \t]*|\\(.)|\n[ \t]*/g
const codePointMax = 0x10_FFFF

const doubleQuoted = (text: string) =>
  linesOf(text).join("\n").replace(piece, (all: string, two?: string, four?: string, eight?: string, one?: string) => {
    const code = two ?? four ?? eight
    if (code !== undefined) return String.fromCodePoint(Math.min(codePointMax, parseInt(code, 16)))
    return one === undefined ? all.startsWith("\\") ? "" : " " : escapes[one] ?? one
  })

/** Returns a literal block scalar; its header may have the indentation and the handling of last line breaks. */
const block = (header: string, lines: ReadonlyArray<string>) => {
  const stated = /\d/.exec(header)?.[0]
  const indentation = stated === undefined
    ? /^ */.exec(lines.find((line) => line.trim() !== "") ?? "")?.[0].length ?? 0
    : Number(stated)
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
  if (single !== undefined) return folded(single).replaceAll("''", "'")
  const [, double] = /^"((?:[^"\\]|\\[^])*)"$/.exec(flow) ?? []
  if (double !== undefined) return doubleQuoted(double)
  return /^[!&*|>'"[\]{}#%@`]|^[-?:](?:\s|$)|:(?:\s|$)|^- /m.test(flow) ? undefined : plain(folded(flow))
}
