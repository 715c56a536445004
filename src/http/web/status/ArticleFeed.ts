import { Clock, Effect } from "effect"
import { type Html, html } from "../../html/Html.ts"
import { type JsonOf, read } from "../../wire/Keys.ts"
import type { Status } from "../../wire/Status.ts"
import type { Visit } from "../shell/Visit.ts"
import { articleOf } from "./Article.ts"
import { selfThreadsOf } from "./SelfThreads.ts"
import type { ShownStatus } from "./StatusText.ts"

/** Renders statuses as a feed with a name. */
export const articlesOf = (visit: Visit, label: string, statuses: ReadonlyArray<ShownStatus>): Effect.Effect<Html> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) =>
      html`<div role="feed" aria-label="${label}" class="feed">${
        statuses.map((status) => articleOf(visit, status, { now }))
      }</div>`
  )

/** Renders serialised statuses as a feed with a name. */
export const feedOf = (visit: Visit, label: string, items: ReadonlyArray<JsonOf<Status>>): Effect.Effect<Html> =>
  Effect.suspend(() => articlesOf(visit, label, items.map(read)))
/** Renders the folded rest of a thread. A feed may contain articles only (WAI-ARIA 1.2). */
const foldedOf = ({ reader: { words: { say } } }: Visit, articles: ReadonlyArray<Html>): Html => {
  const label = say(
    "{count, plural, one {# more post in this thread} other {# more posts in this thread}}",
    { count: articles.length }
  )
  return html`<div role="article" aria-label="${label}"><details class="fold"><summary>${label}</summary>${articles}</details></div>`
}

/** Renders statuses as a feed in which an author's thread is one entry: its first post, and the others folded. */
export const foldedFeedOf = (visit: Visit, label: string, items: ReadonlyArray<JsonOf<Status>>): Effect.Effect<Html> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) =>
      html`<div role="feed" aria-label="${label}" class="feed">${
        selfThreadsOf(items.map((item) => read(item))).map(({ first, rest }) =>
          html`${articleOf(visit, first, { now })}${
            rest.length === 0 ? "" : foldedOf(
              visit,
              rest.map((one) => articleOf(visit, one, { now, inThread: true }))
            )
          }`
        )
      }</div>`
  )
