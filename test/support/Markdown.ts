import MarkdownIt, { type Token } from "markdown-it"
import { anchorOf } from "../../src/http/docs/ManualPage.ts"

/** An indented or fenced code block, with the HTML comment directly above it, if any. */
interface CodeBlock {
  readonly text: string
  readonly comment: string | undefined
}

/** Parts of a Markdown document that tests check. */
export interface Parsed {
  readonly blocks: ReadonlyArray<CodeBlock>
  /** Texts in backticks. */
  readonly codes: ReadonlyArray<string>
  /** Texts in bold. */
  readonly names: ReadonlyArray<string>
  /** Anchors of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>
  readonly links: ReadonlyArray<string>
}

const markdown = new MarkdownIt({ html: true })

/** Returns the text up to the end of bold text; line breaks are spaces. */
const textFrom = (parts: ReadonlyArray<Token>, from: number): string => {
  const rest = parts.slice(from)
  const end = rest.findIndex(({ type }) => type === "strong_close")
  return rest.slice(0, end).map(({ content, type }) => type === "softbreak" ? " " : content).join("")
}

/** Parses a document. */
export const parse = (text: string): Parsed => {
  const tokens = markdown.parse(text, {})
  const blocks = tokens.flatMap(({ content, type }, at) => {
    const above = tokens[at - 1]
    const comment = above?.type === "html_block" ? /<!--\s*(.*?)\s*-->/s.exec(above.content)?.[1] : undefined
    return type === "code_block" || type === "fence" ? [{ text: content, comment }] : []
  })
  const inline = tokens.filter(({ type }) => type === "inline")
  const parts = inline.flatMap(({ children }) => children ?? [])
  return {
    blocks,
    codes: parts.filter(({ type }) => type === "code_inline").map(({ content }) => content),
    names: parts.flatMap(({ type }, at) => type === "strong_open" ? [textFrom(parts, at + 1)] : []),
    anchors: new Set(
      tokens.flatMap(({ type }, at) => type === "heading_open" ? [anchorOf(tokens[at + 1]?.content ?? "")] : [])
    ),
    links: parts.flatMap((part) => part.type === "link_open" ? [String(part.attrGet("href") ?? "")] : [])
  }
}
