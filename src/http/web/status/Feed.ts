import { Clock, Effect } from "effect"
import { type Html, html } from "../../html/Html.ts"
import { read, type Ready } from "../../wire/Keys.ts"
import type { Status } from "../../wire/Status.ts"
import type { Visit } from "../shell/Visit.ts"
import { articleOf } from "./Article.ts"

/** Renders serialised statuses as a feed with a name. */
export const feedOf = (visit: Visit, label: string, items: ReadonlyArray<Ready<Status>>): Effect.Effect<Html> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) =>
      html`<div role="feed" aria-label="${label}" class="feed">${
        items.map((item) => articleOf(visit, read(item), { now }))
      }</div>`
  )
