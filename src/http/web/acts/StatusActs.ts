import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/Protocol.ts"
import { StatusId } from "../../../services/database/Ids.ts"
import { type ClientError, RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Bookmarks } from "../../../services/statuses/Bookmarks.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { idOf } from "../shell/Paging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"

type Act = (visit: MemberVisit, id: StatusId, form: URLSearchParams) => Effect.Effect<ActResult | void, ClientError>

/** Acts on a status by the value of the pressed button: `POST /web/statuses/ID` with `act`. */
class StatusActs extends Context.Service<StatusActs, Readonly<Record<string, Act>>>()(
  "murmuration/http/web/acts/StatusActs"
) {
  static readonly layer = Layer.effect(
    StatusActs,
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const bookmarks = yield* Bookmarks
      const tell = (command: (statusId: StatusId) => Command): Act => ({ viewer }, id) =>
        Effect.asVoid(actors.tell(viewer, command(id)))
      return StatusActs.of({
        favourite: tell((statusId) => ({ _tag: "Favourite", statusId })),
        unfavourite: tell((statusId) => ({ _tag: "Unfavourite", statusId })),
        reblog: tell((statusId) => ({ _tag: "Reblog", statusId, visibility: null })),
        unreblog: tell((statusId) => ({ _tag: "Unreblog", statusId })),
        bookmark: ({ viewer }, id) => bookmarks.add(viewer, id),
        unbookmark: ({ viewer }, id) => bookmarks.remove(viewer, id)
      })
    })
  )
}

const make = Effect.gen(function*() {
  const acts = yield* StatusActs
  const pages = yield* WebPages
  const views = yield* StatusViews

  const post = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { id: digits } = yield* HttpRouter.params
    const id = idOf(digits)
    const name = form.get("act") ?? ""
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (id === undefined) return yield* new RecordNotFound()
    if (act === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    const done = yield* act(visit, StatusId.make(id), form)
    // The page may show the status inside of a boost, whose id the form names.
    const shown = idOf(form.get("shown")) ?? id
    return {
      at: `status-${shown}`,
      part: Effect.gen(function*() {
        const status = read(yield* views.renderOne(visit.viewer, shown))
        const here = form.get("return") ?? visit.here
        return articleOf({ ...visit, here }, status, { now: yield* Clock.currentTimeMillis })
      }),
      ...done
    }
  }))
  return HttpRouter.add("POST", "/web/statuses/:id", post)
})

/** Acts on statuses, from any page that shows them. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([StatusActs.layer, StatusViews.layer]))
