import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/AccountProtocol.ts"
import { parseId, StatusId } from "../../../services/database/Ids.ts"
import { type ClientError, RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Bookmarks } from "../../../services/statuses/Bookmarks.ts"
import { ConversationMutes } from "../../../services/statuses/ConversationMutes.ts"
import { Limits } from "../../guard/Limits.ts"
import { html } from "../../html/Html.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"

interface Sent {
  readonly id: StatusId
  readonly form: URLSearchParams
  /** Text after the colon of the button's value, such as the emoji of `react:👍`. */
  readonly argument: string
}

type Act = (visit: MemberVisit, sent: Sent) => Effect.Effect<ActResult | void, ClientError>

/** Maximum choices of a vote that are read: no poll has more options. */
const choicesMax = 100
/** Maximum characters of an emoji's name that are read. */
const emojiCharactersMax = 400

/** Acts on a status by the value of the pressed button: `POST /web/statuses/ID` with `act`. */
class StatusActs extends Context.Service<StatusActs, Readonly<Record<string, Act>>>()(
  "murmuration/http/web/acts/StatusActs"
) {
  static readonly layer = Layer.effect(
    StatusActs,
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const bookmarks = yield* Bookmarks
      const limits = yield* Limits
      const mutes = yield* ConversationMutes
      const views = yield* StatusViews
      const tell = (command: (statusId: StatusId) => Command): Act => ({ viewer }, { id }) =>
        Effect.asVoid(actors.tell(viewer, command(id)))
      /** Limits an act as the API limits its call. */
      const limited = (act: Act): Act => (visit, asked) =>
        Effect.andThen(limits.spend([{ limit: "deletion", key: String(visit.viewer) }]), act(visit, asked))
      /** Changes the mute of a conversation that the member may see. */
      const muting = (write: typeof mutes.mute): Act => ({ viewer }, { id }) =>
        Effect.andThen(views.renderOne(viewer, id), write(viewer, id))
      /** Reacts with the emoji of the button, or with the one that was typed. */
      const reacting = (tag: "React" | "Unreact"): Act => ({ viewer }, { argument, form, id }) =>
        Effect.asVoid(
          actors.tell(viewer, {
            _tag: tag,
            statusId: id,
            name: (argument || (form.get("emoji") ?? "")).trim().slice(0, emojiCharactersMax)
              .replace(/^:([a-zA-Z0-9_]+):$/, "$1")
          })
        )
      return StatusActs.of({
        favourite: tell((statusId) => ({ _tag: "Favourite", statusId })),
        unfavourite: tell((statusId) => ({ _tag: "Unfavourite", statusId })),
        reblog: tell((statusId) => ({ _tag: "Reblog", statusId, visibility: null })),
        unreblog: limited(tell((statusId) => ({ _tag: "Unreblog", statusId }))),
        bookmark: ({ viewer }, { id }) => bookmarks.add(viewer, id),
        unbookmark: ({ viewer }, { id }) => bookmarks.remove(viewer, id),
        react: reacting("React"),
        unreact: reacting("Unreact"),
        pin: tell((statusId) => ({ _tag: "Pin", statusId })),
        unpin: tell((statusId) => ({ _tag: "Unpin", statusId })),
        mute: muting(mutes.mute),
        unmute: muting(mutes.unmute),
        vote: ({ viewer }, { form, id }) => {
          const given = form.getAll("choices").slice(0, choicesMax)
          const choices = given.flatMap((text) => /^\d{1,3}$/.test(text) ? [Number(text)] : [])
          return Effect.asVoid(actors.tell(viewer, { _tag: "Vote", statusId: id, choices }))
        },
        delete: limited(Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, { id }) {
          yield* actors.tell(viewer, { _tag: "Delete", statusId: id, deleteMedia: false })
          return { notice: say("The post was deleted."), part: Effect.succeed(html``) }
        }))
      })
    })
  )
}

const make = Effect.gen(function*() {
  const acts = yield* StatusActs
  const pages = yield* WebPages
  const views = yield* StatusViews

  const post = pages.act(Effect.fnUntraced(function*(visit, form) {
    const id = parseId(visit.params["id"])
    const [, name = "", argument = ""] = /^([^:]*):?(.*)$/s.exec(form.get("act") ?? "") ?? []
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (id === undefined) return yield* new RecordNotFound()
    if (act === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    const done = yield* act(visit, { id: StatusId.make(id), form, argument })
    // The page may show the status inside of a boost, whose id the form names.
    const shown = parseId(form.get("shown")) ?? id
    return {
      at: `status-${shown}`,
      part: Effect.gen(function*() {
        // The boost itself is gone after it was undone.
        const found = shown === id
          ? yield* views.renderOne(visit.viewer, id)
          : yield* Effect.catch(views.renderOne(visit.viewer, shown), () => views.renderOne(visit.viewer, id))
        const here = form.get("return") ?? visit.pathAndQuery
        return articleOf({ ...visit, pathAndQuery: here }, read(found), { now: yield* Clock.currentTimeMillis })
      }),
      ...done
    }
  }))
  return HttpRouter.add("POST", "/web/statuses/:id", post)
})

/** Acts on statuses, from any page that shows them. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusActs.layer), Layer.provide(StatusViews.layer))
