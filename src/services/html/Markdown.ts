import MarkdownIt from "markdown-it"
import { bounded } from "../text/BoundedText.ts"
import { type Meaning, paragraphs, writer } from "./Compose.ts"
import { plainText } from "./PlainText.ts"
import { nestingMax, sanitise } from "./Sanitise.ts"
import { addressStart, type Token, tokenAt } from "./TextTokens.ts"

/*
 * Markdown posts (CommonMark with strikethrough), by `markdown-it` extended with mentions, hashtags and URLs. The
 * result is sanitised like remote HTML. HTML in the source is text. Images become links, as posts show no images in
 * their text. References are disabled: a few characters could repeat a long URL many times.
 */

/** Ends a run of plain text: the start of markup, a mention, a hashtag or a URL. */
const special = new RegExp(String.raw`[\n\\` + "`" + String.raw`*_~[\]!<>&@#＃]|${addressStart}`, "giu")

const socialType = "social"
/** Emphasis characters. */
const emphasis = new Set("*_~")

/** Returns the mention, hashtag or URL at an index; a URL ends before emphasis characters. */
const foundAt = (source: string, index: number): Token | undefined => {
  const token = tokenAt(source, index)
  if (token?.kind !== "url") return token
  let end = token.text.length
  while (end > 0 && emphasis.has(token.text.charAt(end - 1))) end--
  const text = token.text.slice(0, end)
  return text === token.text ? token : { kind: "url", text }
}

const make = () => {
  const md = new MarkdownIt("commonmark", { html: false, breaks: true, maxNesting: nestingMax - 2 })
  md.enable("strikethrough").disable(["image", "reference", "html_block", "html_inline"])
  md.inline.ruler.at("text", (state, silent) => {
    special.lastIndex = state.pos
    const end = Math.min(special.exec(state.src)?.index ?? state.posMax, state.posMax)
    if (end <= state.pos) return false
    if (!silent) state.pending += state.src.slice(state.pos, end)
    state.pos = end
    return true
  })
  md.inline.ruler.before("text", socialType, (state, silent) => {
    const found = state.linkLevel > 0 ? undefined : foundAt(state.src, state.pos)
    if (found === undefined || state.pos + found.text.length > state.posMax) return false
    if (!silent) state.push(socialType, "", 0).content = found.text
    state.pos += found.text.length
    return true
  })
  const { renderer } = md
  const { rules } = renderer
  rules[socialType] = (all, index, _, env) => {
    const found = foundAt(all[index]?.content ?? "", 0)
    return found === undefined || env === undefined ? "" : writing(env)(found)
  }
  rules["softbreak"] = rules["hardbreak"] = () => "<br />"
  rules["s_open"] = () => "<del>"
  rules["s_close"] = () => "</del>"
  // Apps render line breaks in HTML literally.
  for (const name of ["fence", "code_block"] as const) {
    const rule = rules[name]
    if (rule !== undefined) rules[name] = (...given) => rule(...given).trimEnd()
  }
  const plain = renderer.renderToken.bind(renderer)
  renderer.renderToken = (...given) => plain(...given).replaceAll("\n", "")
  return md
}

/** Token writers by markdown-it's `env` object of a rendering. */
const writers = new WeakMap<object, (token: Token) => string>()
const writing = (env: object) => writers.get(env) ?? (() => "")

// Created on first use: most servers have only plain posts for a long time.
let instance: ReturnType<typeof make> | undefined
const parser = () => instance ??= make()

/** Returns the mentions, hashtags and URLs of a text, without those in code or link labels. */
export const markdownTokens = (source: string): ReadonlyArray<Token> =>
  parser().parse(source, {}).flatMap(({ children }) =>
    (children ?? []).flatMap(({ content, type }) => (type === socialType ? foundAt(content, 0) : undefined) ?? [])
  )

/** Returns the HTML of a status; a text that renders to nothing is treated as plain text. */
export const markdown = (source: string, meaning: Meaning): string => {
  const env = {}
  writers.set(env, writer(meaning, { rel: "nofollow noopener", withDomains: false }))
  const html = sanitise(bounded(parser().render(source, env))).trim()
  return plainText(bounded(html)) === "" ? paragraphs(source, meaning) : html
}
