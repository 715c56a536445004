import { Effect } from "effect"
import { html } from "../html/Html.ts"
import { respond } from "../html/HtmlPage.ts"
import type { PageReader, Visitors } from "../html/Visitors.ts"

type Explanation = (words: PageReader["words"]) => string

/**
 * Returns the page for an expired link from an e-mail, with status 404: the reason, and a link to request a new one at
 * `askPath`.
 */
export const expiredLink = (visitors: Visitors["Service"], why: Explanation, askPath: string) =>
  Effect.map(visitors.reader, ({ server, way, words }) =>
    respond({
      words,
      title: words.say("This link is no longer valid"),
      server,
      status: 404,
      body: html`<p>${why(words)}
<a href="${way(askPath)}">${words.say("Request a new link")}</a></p>`
    }))
