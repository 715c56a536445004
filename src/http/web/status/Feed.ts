import { Clock, Effect } from "effect"
import { type Html, html } from "../../html/Html.ts"
import { read, type Ready } from "../../wire/Keys.ts"
import type { Status } from "../../wire/Status.ts"
import type { Visit } from "../shell/Visit.ts"
import { articleOf } from "./Article.ts"
import type { ShownStatus } from "./Text.ts"

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
export const feedOf = (visit: Visit, label: string, items: ReadonlyArray<Ready<Status>>): Effect.Effect<Html> =>
  Effect.suspend(() => articlesOf(visit, label, items.map(read)))
