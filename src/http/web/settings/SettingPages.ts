import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type ClientError, Unprocessable } from "../../../services/runtime/Errors.ts"
import { failureResponse } from "../../guard/FailureResponses.ts"
import type { Html } from "../../html/Html.ts"
import { ownPath } from "../../html/OwnPaths.ts"
import type { ScriptName } from "../shell/ClientScripts.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"
import { type Filled, filledWith } from "./Filled.ts"
import { inSettings } from "./SettingsNavigation.ts"

type SettingAct = (
  visit: MemberVisit,
  form: URLSearchParams
) => Effect.Effect<ActResult | void, ClientError, HttpServerRequest.HttpServerRequest>

/** A settings page: its content, and the acts of its forms by the value of the pressed button. */
interface SettingPage {
  readonly path: `/${string}`
  readonly title: (words: Messages) => string
  readonly show: (visit: MemberVisit, filled: Filled) => Effect.Effect<Html, ClientError>
  readonly acts: Readonly<Record<string, SettingAct>>
  readonly scripts?: ReadonlyArray<ScriptName>
}

/** Makes a function that adds the routes of a settings page: the page, and its forms below `/web`. */
export const make = Effect.gen(function*() {
  const pages = yield* WebPages

  return ({ acts, path, scripts, show, title }: SettingPage) => {
    const view = (visit: MemberVisit, filled: Filled) =>
      Effect.map(show(visit, filled), (body) => ({
        title: title(visit.reader.words),
        ...(scripts !== undefined && { scripts }),
        ...inSettings(visit, body)
      }))

    /** Returns the visit of the page that a form was on. */
    const pageOf = (visit: MemberVisit, form: URLSearchParams): MemberVisit => {
      const own = visit.path.replace(/^\/web/, "")
      const back = ownPath(form.get("return"))
      const here = back?.split("?")[0] === own ? back : own
      return { ...visit, path: own, pathAndQuery: here, query: new URLSearchParams(here.split("?")[1] ?? "") }
    }

    const post = pages.act(Effect.fnUntraced(function*(sent, form) {
      const visit = pageOf(sent, form)
      const name = form.get("act") ?? ""
      const act = Object.hasOwn(acts, name) ? acts[name] : undefined
      const done: ReturnType<SettingAct> = act === undefined
        ? Effect.fail(new Unprocessable({ text: "Validation failed: Action is not included in the list" }))
        : act(visit, form)
      return yield* done.pipe(
        Effect.map((result): ActResult => ({
          to: visit.pathAndQuery,
          notice: visit.reader.words.say("The settings were saved."),
          ...result
        })),
        // The page comes back with what was typed.
        Effect.catch((error) =>
          Effect.gen(function*() {
            const { status } = yield* failureResponse(error)
            const shown = yield* view(visit, filledWith(form))
            const text = visit.reader.words.translate(error.message)
            return yield* pages.render(visit, { ...shown, status }, text)
          })
        )
      )
    }))
    return Layer.mergeAll(
      HttpRouter.add("GET", path, pages.member((visit) => view(visit, filledWith(undefined)))),
      HttpRouter.add("POST", `/web${path}`, post)
    )
  }
})
