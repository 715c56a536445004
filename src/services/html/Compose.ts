import { handle, type Token, tokens } from "./TextTokens.ts"

/** Account of a mention. `acct` is `user`, or `user@domain` for a remote one, with the domain in Unicode. */
export interface Mentioned {
  readonly url: string
  readonly username: string
  readonly acct: string
}

/** Resolved mentions and hashtag URLs of a text. */
export interface Meaning {
  /** Accounts by `TextTokens.handle`; a mention that is missing here stays plain text. */
  readonly mentions: ReadonlyMap<string, Mentioned>
  /** Returns the URL of a hashtag's timeline. */
  readonly tagUrl: (name: string) => string
}

/** Returns the HTML of a status or a biography, in the form that Mastodon's clients know (TextFormatter, 4.3). */
export const paragraphs = (source: string, meaning: Meaning): string => {
  const lines = source.replace(/\r\n?/g, "\n").trim()
  if (lines === "") return ""
  const html = inline(lines, meaning, { rel: "nofollow noopener", withDomains: false })
  return `<p>${html.replace(/\n{2,}/g, "</p><p>").replaceAll("\n", "<br />")}</p>`
}

/** Returns the HTML of a profile field's value: one line, links with `rel="me"`, and handles with their domains. */
export const field = (source: string, meaning: Meaning): string =>
  inline(source.trim(), meaning, { rel: "me nofollow noopener", withDomains: true })

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/** Escapes plain text for HTML elements and quoted attributes. */
export const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)

interface Style {
  readonly rel: string
  readonly withDomains: boolean
}

const inline = (source: string, meaning: Meaning, style: Style): string =>
  tokens(source).map(writer(meaning, style)).join("")

/** Returns a function that renders the tokens of one text, in order. */
export const writer = (meaning: Meaning, style: Style) => {
  const firstOfName = new Map<string, string>()
  return (token: Token): string => {
    switch (token.kind) {
      case "text":
        return escape(token.text)
      case "url":
        return link(token.text, style.rel)
      case "hashtag":
        return hashtag(token.name, meaning)
      case "mention":
        return mention(token, meaning, style, firstOfName)
    }
  }
}

/** Visible characters of a URL; the parts before and after are hidden, but can be copied. */
const shownCharacters = 30

const link = (url: string, rel: string): string => {
  const prefix = /^(?:https?:\/\/(?:www\.)?|xmpp:)/i.exec(url)?.[0] ?? ""
  const shown = Array.from(url.slice(prefix.length))
  const cut = shown.length > shownCharacters
  return `<a href="${escape(url)}" rel="${rel}" target="_blank" translate="no">` +
    `<span class="invisible">${escape(prefix)}</span>` +
    `<span class="${cut ? "ellipsis" : ""}">${escape(shown.slice(0, shownCharacters).join(""))}</span>` +
    `<span class="invisible">${escape(shown.slice(shownCharacters).join(""))}</span></a>`
}

const hashtag = (name: string, { tagUrl }: Meaning): string =>
  `<a href="${escape(tagUrl(name))}" class="mention hashtag" rel="tag">#<span>${escape(name)}</span></a>`

const mention = (
  token: Token & { readonly kind: "mention" },
  { mentions }: Meaning,
  { withDomains }: Style,
  firstOfName: Map<string, string>
): string => {
  const account = mentions.get(handle(token.username, token.domain))
  if (account === undefined) return escape(token.text)
  // If two accounts have the same name, the second is shown with its domain.
  const name = account.username.toLowerCase()
  const first = firstOfName.get(name) ?? account.acct
  firstOfName.set(name, first)
  const shown = withDomains || first !== account.acct ? account.acct : account.username
  return `<span class="h-card" translate="no"><a href="${escape(account.url)}" class="u-url mention">` +
    `@<span>${escape(shown)}</span></a></span>`
}
