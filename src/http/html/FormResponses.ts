import { Effect, Redacted } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type FormOwner, FormPages } from "../../services/identity/FormPages.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { Limits } from "../guard/Limits.ts"
import { noTransformHeaders, privateHeaders, redirect, seeOther } from "./HtmlPage.ts"
import { ownPath } from "./OwnPaths.ts"
import { asked, copyOf, filled } from "./StoredPages.ts"
import { Visitors } from "./Visitors.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Path of the form's page in one of its fields, for browsers that do not name it. */
type Back = Effect.Effect<string | null, never, Request>

/** Path of stored pages, before their ids. */
export const formPagesPath = "/web/form_pages"

const idOf = /^\/web\/form_pages\/([\w-]{1,43})(?:\?|$)/

/** Headers of a response that the stored page gets anew, or that only concern the form. */
const ofResponse = new Set(["content-length", "content-type", "retry-after"])

const headersOf = ({ headers }: Response): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => !ofResponse.has(name))),
  ...(headers["cache-control"]?.includes("no-transform") === true ? noTransformHeaders : privateHeaders)
})

/** Returns the HTML of a response; undefined for any other. */
const pageIn = ({ body }: Response): string | undefined =>
  body._tag === "Uint8Array" && body.contentType.startsWith("text/html")
    ? new TextDecoder().decode(body.body)
    : undefined

const isRedirect = ({ status }: Response) => status === 302 || status === 303

/** Returns true for a form that a browser sent by itself; scripts read the response to theirs. */
export const isSubmission = ({ headers, method }: Request) =>
  HttpMethod.hasBody(method) && headers["sec-fetch-mode"] === "navigate"

/**
 * Responses to forms that are pages: a refusal with what was typed, or the next step of a form. The browser is
 * redirected to a stored copy, which it can go back to and load again without sending the form a second time.
 */
export const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const limits = yield* Limits
  const pages = yield* FormPages
  const visitors = yield* Visitors

  /** Returns the path of the page that a form was on, as the browser names it. */
  const refererOf = ({ headers: { referer = "" } }: Request) =>
    referer.startsWith(`${publicUrl}/`) ? referer.slice(publicUrl.length) : undefined

  /** Returns the path of the form's page when it was not yet filled in. */
  const emptyPage = (request: Request, back: Back) => {
    const referer = refererOf(request)
    const stored = referer !== undefined && idOf.test(referer)
    const named = ownPath(stored ? asked(referer).get("to") : referer ?? null)
    return named === undefined ? Effect.map(back, (path) => ownPath(path) ?? request.url) : Effect.succeed(named)
  }

  /** Visitors may store few pages: a stranger needs no account to be one. */
  const mayStore = (request: Request, owner: FormOwner) =>
    Redacted.isRedacted(owner)
      ? limits.spend([
        { limit: "formPagesAddress", key: addressOf(request) },
        { limit: "formPages", key: "" }
      ]).pipe(Effect.as(true), Effect.orElseSucceed(() => false))
      : Effect.succeed(true)

  const store = Effect.fnUntraced(function*(request: Request, response: Response, back: Back) {
    const text = pageIn(response)
    const owner = yield* visitors.formOwner
    if (text === undefined || owner === undefined) return response
    const to = yield* emptyPage(request, back)
    const page = copyOf(text, to)
    if (page === undefined || !(yield* mayStore(request, owner))) return response
    const id = yield* pages.store(owner, { page, headers: headersOf(response) })
    if (id === undefined) return response
    const { way } = yield* visitors.reader
    const stored = seeOther(way(`${formPagesPath}/${id}?${new URLSearchParams({ to })}`))
    return HttpServerResponse.mergeCookies(stored, response.cookies)
  })

  /** Removes the stored page that a form was on, if the response leads to another page: the form succeeded. */
  const leave = Effect.fnUntraced(function*(request: Request) {
    const [, id] = idOf.exec(refererOf(request) ?? "") ?? []
    const owner = id === undefined ? undefined : yield* visitors.formOwner
    if (id !== undefined && owner !== undefined) yield* pages.remove(owner, id)
  })

  /**
   * Returns the response to a form of our pages: a redirect to the stored copy of its page, if it is one.
   */
  const settle = Effect.fnUntraced(function*(response: Response, back: Back) {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (isRedirect(response)) {
      if (response.headers["location"]?.startsWith(formPagesPath) !== true) yield* leave(request)
      return response
    }
    return isSubmission(request) && visitors.mayBeOurs(request) ? yield* store(request, response, back) : response
  })

  /** Responds with a stored page; the page of the form, empty, if it has expired. */
  const show = Effect.gen(function*() {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const { id = "" } = yield* HttpRouter.params
    const owner = yield* visitors.formOwner
    const stored = owner === undefined ? undefined : yield* pages.find(owner, id)
    const to = ownPath(asked(url).get("to")) ?? "/home"
    const { formToken } = yield* visitors.current
    const page = stored === undefined ? undefined : filled(stored.page, to, formToken)
    if (stored === undefined || page === undefined) return redirect(to)
    return HttpServerResponse.text(page, { contentType: "text/html; charset=utf-8", headers: stored.headers })
  })

  return { settle, show }
})
