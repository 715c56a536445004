import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/*
 * The texts of e-mails to people who get somebody's posts that way, with the heads by which mail programs offer to end it with
 * one click (RFC 8058).
 */

/** Somebody's posts for somebody. */
interface About {
  readonly to: string
  /** The server, by its domain. */
  readonly server: string
  readonly username: string
  /** What the author is called. */
  readonly name: string
  /** The link that ends it. */
  readonly unsubscribe: string
}

/** A post as far as an e-mail shows it; `text` is the content warning where there is one. */
interface DigestPost {
  readonly text: string
  readonly url: string
}

type Written = (words: Messages) => Email

/** Characters of a post that a subject shows, and of one that the e-mail shows. */
const excerptCharactersMax = 60
const textCharactersMax = 2_000

const cut = (text: string, charactersMax: number) => {
  const characters = Array.from(text)
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join("")}…` : text
}
const line = (text: string) => cut(text.replaceAll(/\s+/g, " ").trim(), excerptCharactersMax)

const headersOf = ({ server, unsubscribe, username }: About) => ({
  "List-ID": `<${username}.${server.replace(/:\d+$/, "")}>`,
  "List-Unsubscribe": `<${unsubscribe}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
})

/** How long its link works: until `Retention` forgets the subscription. */
export const confirmation = (about: About & { readonly link: string }): Written => ({ say }) => ({
  to: about.to,
  subject: `${say("Confirm your subscription to the posts of {name}", { name: line(about.name) })} (${about.server})`,
  headers: headersOf(about),
  text: [
    say("Someone asked to have the posts of {account} sent to this address. If it was you, open this link:", {
      account: `@${about.username}@${about.server}`
    }),
    about.link,
    say("The link works for seven days. If it was not you, ignore this email: nothing will be sent.")
  ].join("\n\n")
})

/** New posts of one author, the oldest first. */
export const digest = (about: About & { readonly posts: ReadonlyArray<DigestPost> }): Written => ({ say }) => {
  const [first] = about.posts
  const name = line(about.name)
  return {
    to: about.to,
    subject: about.posts.length === 1 && first !== undefined && first.text !== ""
      ? say("{name}: “{excerpt}”", { name, excerpt: line(first.text) })
      : say("New posts by {name}", { name }),
    headers: headersOf(about),
    text: [
      ...about.posts.map(({ text, url }) => `${cut(text, textCharactersMax)}\n${url}`.trim()),
      "-- ",
      say("You receive the posts of {account} by email because you subscribed. To unsubscribe, open this link:", {
        account: `@${about.username}@${about.server}`
      }),
      about.unsubscribe
    ].join("\n\n")
  }
}
