import type { Messages } from "../languages/Messages.ts"
import { cut, line } from "./Excerpts.ts"
import type { Email } from "./Mailer.ts"
import { oneClickHeaders } from "./UnsubscribeTexts.ts"

/* Texts of e-mails to subscribers of an account, with the headers for one-click unsubscribe (RFC 8058). */

/** An account and its subscriber. */
interface About {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  readonly username: string
  /** Display name of the author. */
  readonly name: string
  /** Link to unsubscribe. */
  readonly unsubscribe: string
}

/** A post in an e-mail; `text` is the content warning, if there is one. */
interface DigestPost {
  readonly text: string
  readonly url: string
}

type Written = (words: Messages) => Email

/** Maximum characters of a post in the body. */
const textCharactersMax = 2_000

const headersOf = ({ server, unsubscribe, username }: About) => ({
  "List-ID": `<${username}.${server.replace(/:\d+$/, "")}>`,
  ...oneClickHeaders(unsubscribe)
})

/** Asks to confirm a subscription. Its link is valid until `Retention` deletes the subscription. */
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

/** Contains new posts of an author, oldest first. */
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
