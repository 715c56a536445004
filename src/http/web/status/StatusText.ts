import { sanitise } from "../../../services/html/Sanitise.ts"
import { line, lineOfHtml } from "../../../services/html/TextLine.ts"
import { bounded } from "../../../services/text/BoundedText.ts"
import { withEmojis } from "../../html/EmojiText.ts"
import { type Html, html, raw } from "../../html/Html.ts"
import type { Account } from "../../wire/Account.ts"
import type { Values } from "../../wire/Keys.ts"
import type { Status } from "../../wire/Status.ts"

/** A status and an account as pages read them. */
export type ShownStatus = Values<Status>
export type ShownAccount = Values<Account>

type Emojis = ShownStatus["emojis"]

/** Returns the name of an account as text. */
export const plainName = ({ displayName, username }: ShownAccount): string => displayName.trim() || username

/** Renders the name of an account with its emoji. */
export const nameOf = (account: ShownAccount): Html => withEmojis(html`${plainName(account)}`, account.emojis)

/** Path of an account's page on this server. */
export const profilePath = (acct: string): string => `/@${acct}`

/** Path of a status's page on this server. */
export const statusPath = ({ account, id }: Pick<ShownStatus, "account" | "id">): string => `/@${account.acct}/${id}`

/** Renders HTML that may be from another server. Sanitised here again, so that a page never depends on stored rows. */
export const foreign = (text: string, emojis: Emojis): Html => withEmojis(raw(sanitise(bounded(text))), emojis)

const address = /\bhref="([^"]*)"/

/** Renders the text of a status: mentions and hashtags lead to the pages of this server. */
export const contentOf = (
  { content, emojis, mentions, tags }: Pick<ShownStatus, "content" | "emojis" | "mentions" | "tags">,
  text = content
): Html => {
  const paths = new Map([
    ...mentions.map(({ acct, url }) => [url, profilePath(acct)] as const),
    ...tags.map(({ name, url }) => [url, `/tags/${encodeURIComponent(name)}`] as const)
  ])
  const shown = foreign(text, emojis)
  if (paths.size === 0) return shown
  const names = new Map(tags.map(({ name }) => [name.toLowerCase(), `/tags/${encodeURIComponent(name)}`]))
  return raw(
    // Other servers link hashtags to their own pages.
    String(shown).replace(
      /<a ([^<>]*)>#(?:<span>)?([^<>]{1,300})/g,
      (all, attributes: string, name: string) => {
        const path = names.get(name.toLowerCase())
        return path === undefined ? all : all.replace(attributes, () => attributes.replace(address, `href="${path}"`))
      }
    ).replace(/<a [^<>]*>/g, (tag) =>
      tag.replace(address, (all, url: string) => {
        const path = paths.get(url.replaceAll("&amp;", "&"))
        return path === undefined ? all : `href="${path}"`
      }))
  )
}

/** Returns the content warning or the text of a status on one line without markup, cut to `charactersMax`. */
export const lineOfStatus = (
  { content, spoilerText }: Pick<ShownStatus, "content" | "spoilerText">,
  charactersMax: number
): string => spoilerText === "" ? lineOfHtml(content, charactersMax) : line(spoilerText, charactersMax)
