import { Effect } from "effect"
import { HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FormPages } from "../../../services/identity/FormPages.ts"
import type { Session } from "../../../services/identity/Sessions.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { redirect, seeOther } from "../../html/HtmlPage.ts"
import { mediaSources } from "../../html/MediaSources.ts"
import { ownPath } from "../../html/OwnPaths.ts"
import { pageHeaders } from "./PageHeaders.ts"
import type { MemberVisit, Visit } from "./Visit.ts"

/** Path of stored pages, before their ids. */
export const formPagesPath = "/web/form_pages"

/** Replaces the form token in a stored page. Texts of a page contain no `<`. */
const tokenMark = "<form-token>"

const idOf = /\/web\/form_pages\/([\w-]{1,43})(?:\?|$)/

/**
 * Responses to forms that are pages: a refusal with what was typed, or the next step of a form. The browser is
 * redirected to a stored copy, which it can go back to and load again without sending the form a second time.
 */
export const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const pages = yield* FormPages
  const media = mediaSources(config)

  /** Returns true for a form that a browser sent by itself; scripts read the response to theirs. */
  const isSubmission = Effect.map(
    HttpServerRequest.HttpServerRequest,
    ({ headers, method }) => HttpMethod.hasBody(method) && headers["sec-fetch-mode"] === "navigate"
  )

  /** Stores the response to a form, and redirects to it; undefined if it cannot be stored. */
  const store = Effect.fnUntraced(function*(visit: Visit, session: Session, page: string) {
    const id = yield* pages.store(session, page.replaceAll(visit.formToken, tokenMark))
    if (id === undefined) return undefined
    const to = new URLSearchParams({ to: visit.pathAndQuery })
    return seeOther(visit.reader.way(`${formPagesPath}/${id}?${to}`))
  })

  /** Responds with a stored page; the page of the form, empty, if it has expired. */
  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const page = yield* pages.find(visit.session, visit.params["id"] ?? "")
    if (page === undefined) return redirect(ownPath(visit.query.get("to")) ?? "/home")
    return HttpServerResponse.text(page.replaceAll(tokenMark, () => visit.formToken), {
      contentType: "text/html; charset=utf-8",
      headers: pageHeaders(visit, 200, media)
    })
  })

  /** Removes the stored page that a form was on, if the response leads to another page: the form succeeded. */
  const left = Effect.fnUntraced(function*(visit: MemberVisit, response: HttpServerResponse.HttpServerResponse) {
    const { headers: { referer = "" } } = yield* HttpServerRequest.HttpServerRequest
    const [, id] = idOf.exec(referer) ?? []
    const isAway = response.status === 303 && response.headers["location"]?.startsWith(formPagesPath) !== true
    if (id !== undefined && isAway) yield* pages.remove(visit.session, id)
    return response
  })

  return { isSubmission, store, show, left }
})
