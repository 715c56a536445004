import { Context, Effect, Layer } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { everything, Notifications } from "../../../services/feeds/Notifications.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { Translations } from "../../../services/translation/Translations.ts"
import { stateRefusal } from "../../../services/visibility/UserStates.ts"
import { ExpensiveReads } from "../../guard/ExpensiveReads.ts"
import { failureResponse } from "../../guard/FailureResponses.ts"
import * as Reply from "../../guard/Reply.ts"
import { type FlashMessage, flashMessages } from "../../html/FlashMessages.ts"
import { Forms } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { problem, redirect, seeOther } from "../../html/HtmlPage.ts"
import { mediaSources } from "../../html/MediaSources.ts"
import { ownPath } from "../../html/OwnPaths.ts"
import { signInTo } from "../../html/PagePaths.ts"
import { type Visitor, Visitors } from "../../html/Visitors.ts"
import { ClientScripts, memberScripts } from "./ClientScripts.ts"
import { documentOf } from "./Document.ts"
import { flashBox } from "./FlashBox.ts"
import { unreadMax } from "./Navigation.ts"
import { pageHeaders } from "./PageHeaders.ts"
import type { MemberVisit, View, Visit } from "./Visit.ts"
import { visitOf } from "./Visiting.ts"

type Request = HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
type Response = HttpServerResponse.HttpServerResponse
type Shown<R> = Effect.Effect<View | Response, ClientError, R>

/** Result of an act. */
export interface ActResult {
  /** Path to return to instead of the page that the form was on. */
  readonly to?: string
  /** Fragment of that page: the id of the element that the reader was at. */
  readonly at?: string
  /** Message on the next page. */
  readonly notice?: string
  /** Form beside the message that undoes the act: an act of this path below `/web`. */
  readonly undo?: NonNullable<FlashMessage["undo"]>
  /** Element that replaces the reader's one if a script sent the form. */
  readonly part?: Effect.Effect<Html, ClientError, Request>
}

/** Pages of the web, for members and visitors, and the acts of their forms. */
export class WebPages extends Context.Service<WebPages, {
  /** Serves a page to members; others sign in first, and return to it. */
  readonly member: <R>(show: (visit: MemberVisit) => Shown<R>) => Effect.Effect<Response, never, R | Request>
  /**
   * Serves a page to everybody, or to members only if `closed`. Visitors get no cookie, and may keep the page for a
   * minute.
   */
  readonly anyone: <R>(
    show: (visit: Visit) => Shown<R>,
    closed?: Effect.Effect<boolean>
  ) => Effect.Effect<Response, never, R | Request>
  /**
   * Handles a form that a page sent for its member. It leads back to the page that the form's `return` names. A script
   * that sends the header `x-murmuration-part` gets the changed part alone. A refusal is shown on that page, unless
   * `run` responds itself.
   */
  readonly act: <R>(
    run: (visit: MemberVisit, form: URLSearchParams) => Effect.Effect<ActResult | Response, ClientError, R>
  ) => Effect.Effect<Response, never, R | Request>
  /**
   * Handles a form whose response is a page or a redirect of `run`, which keeps what was typed after a refusal. A form
   * that outlived its session changes nothing, and gets the view of `stale`.
   */
  readonly form: <R>(
    run: (visit: MemberVisit, form: URLSearchParams) => Shown<R>,
    stale: (visit: Visit, form: URLSearchParams) => Effect.Effect<View>
  ) => Effect.Effect<Response, never, R | Request>
  /** Renders a view, for responses that the other functions do not cover, such as a form shown again. */
  readonly render: (visit: Visit, view: View, refused?: string) => Effect.Effect<Response, never, Request>
  /** Responds with parts of a page, for scripts. */
  readonly part: (visit: Visit, part: Html, status?: number) => Response
}>()("murmuration/http/web/shell/WebPages") {
  static readonly layer = Layer.effect(WebPages, Effect.suspend(() => make)).pipe(
    Layer.provide([Forms.layer, ExpensiveReads.layer]),
    Layer.provide(Visitors.layer),
    Layer.provideMerge(ClientScripts.layer)
  )
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const forms = yield* Forms
  const reads = yield* ExpensiveReads
  const scripts = yield* ClientScripts
  const visitors = yield* Visitors
  const { enabled: translates } = yield* Translations
  const flash = flashMessages(config.publicUrl)
  const media = mediaSources(config)
  const notifications = yield* Notifications

  const visitBy = (visitor: Visitor) =>
    Effect.flatMap(HttpRouter.params, (params) => visitOf(visitor, params, translates))

  const part: WebPages["Service"]["part"] = (visit, part, status = 200) =>
    HttpServerResponse.text(String(part), {
      status,
      contentType: "text/html; charset=utf-8",
      headers: pageHeaders(visit, status, media)
    })

  const render = Effect.fnUntraced(function*(visit: Visit, view: View, refused?: string) {
    const { cookies, method } = yield* HttpServerRequest.HttpServerRequest
    const { session } = visit
    // The response to a form may be stored, and shown repeatedly; the next other page has the notice.
    const flashMessage = session === undefined || HttpMethod.hasBody(method) ? undefined : flash.read(cookies)
    const status = view.status ?? 200
    const text = documentOf({
      visit,
      view,
      unread: session === undefined ? 0 : yield* notifications.unread(session.accountId, everything, unreadMax),
      scripts: scripts.tags([...(session === undefined ? ["viewer" as const] : memberScripts), ...view.scripts ?? []]),
      above: html`${flashBox(visit, flashMessage)}${problem(refused)}`
    })
    const response = HttpServerResponse.text(text, {
      status,
      contentType: "text/html; charset=utf-8",
      headers: pageHeaders(visit, status, media, view.leadsAway)
    })
    return flashMessage === undefined ? response : flash.take(response)
  })

  /** Renders the page for a refusal, with the headers of the error. */
  const refusalPage = Effect.fnUntraced(function*(visit: Visit, error: ClientError) {
    const { words: { say, translate } } = visit.reader
    const { status } = yield* failureResponse(error)
    const show = (title: string, body: Html, refused?: string) =>
      Effect.map(
        render(visit, { title, status, body }, refused),
        HttpServerResponse.setHeaders(Reply.errorHeaders(error))
      )
    if (error._tag === "RecordNotFound") {
      return yield* show(
        say("Page not found"),
        html`<p>${say("This page does not exist any more, never existed, or is not public.")}</p>`
      )
    }
    if (error._tag === "Gone") {
      return yield* show(
        say("This account is no longer available"),
        html`<p>${say("The account was suspended or deleted.")}</p>`
      )
    }
    return yield* show(say("This did not work"), html``, translate(error.message))
  })

  const signInFirst = ({ pathAndQuery }: Visit) => redirect(signInTo(pathAndQuery))

  const closedPage = (visit: Visit) => {
    const { way, words: { say } } = visit.reader
    return render(visit, {
      title: say("Members only"),
      status: 401,
      body: html`<p>${say("This page is only visible to people with an account on this server.")}
<a href="${way(signInTo(visit.pathAndQuery))}">${say("Sign in")}</a></p>`
    })
  }

  /** Shows a view within the limit of expensive reads. */
  const shown = <R>(visit: Visit, show: Shown<R>) =>
    reads.within(show).pipe(
      Effect.flatMap((view) =>
        HttpServerResponse.isHttpServerResponse(view) ? Effect.succeed(view) : render(visit, view)
      ),
      Effect.catch((error) => refusalPage(visit, error))
    )

  const memberVisit = (visit: Visit): MemberVisit | undefined =>
    visit.session === undefined || visit.viewer === undefined
      ? undefined
      : { ...visit, session: visit.session, viewer: visit.viewer }

  const member: WebPages["Service"]["member"] = (show) =>
    Effect.gen(function*() {
      const visitor = yield* visitors.current
      const visit = yield* visitBy(visitor)
      const known = memberVisit(visit)
      if (known === undefined) return signInFirst(visit)
      const refused = stateRefusal(known.session.state, { forUsers: true })
      if (refused !== undefined) return visitor.remember(yield* refusalPage(visit, refused))
      return visitor.remember(yield* shown(known, show(known)))
    })

  const anyone: WebPages["Service"]["anyone"] = (show, closed = Effect.succeed(false)) =>
    Effect.gen(function*() {
      const visitor = yield* visitors.current
      const visit = yield* visitBy(visitor)
      if (visit.session !== undefined) {
        const refused = stateRefusal(visit.session.state, { forUsers: false })
        return visitor.remember(
          yield* refused === undefined ? shown(visit, show(visit)) : refusalPage(visit, refused)
        )
      }
      return (yield* closed) ? yield* closedPage(visit) : yield* shown(visit, show(visit))
    })

  const act: WebPages["Service"]["act"] = (run) =>
    forms.handle(
      Effect.fnUntraced(function*(form) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const visit = memberVisit(yield* visitBy(yield* visitors.current))
        const back = ownPath(form.get("return")) ?? "/home"
        if (visit === undefined) return redirect(signInTo(back))
        const wantsPart = headers["x-murmuration-part"] !== undefined
        const { words } = visit.reader
        const refused = stateRefusal(visit.session.state, { forUsers: true })
        return yield* (refused === undefined ? run(visit, form) : Effect.fail(refused)).pipe(
          Effect.flatMap((done) => {
            if (HttpServerResponse.isHttpServerResponse(done)) return Effect.succeed(done)
            if (wantsPart && done.part !== undefined) {
              return Effect.map(done.part, (content) => part(visit, content))
            }
            const response = seeOther(`${done.to ?? back}${done.at === undefined ? "" : `#${done.at}`}`)
            return Effect.succeed(
              done.notice === undefined
                ? response
                : flash.put(response, { notice: done.notice, ...(done.undo !== undefined && { undo: done.undo }) })
            )
          }),
          Effect.catch((error) =>
            wantsPart
              ? Effect.map(
                failureResponse(error),
                ({ status }) => part(visit, problem(words.translate(error.message)), status)
              )
              : Effect.succeed(flash.put(seeOther(back), { notice: words.translate(error.message) }))
          )
        )
      })
    )

  const form: WebPages["Service"]["form"] = (run, stale) => {
    const renderStale = Effect.fnUntraced(function*(fields: URLSearchParams) {
      const visitor = yield* visitors.current
      const visit = yield* visitBy(visitor)
      return visitor.remember(yield* render(visit, yield* stale(visit, fields)))
    })
    const handler = Effect.fnUntraced(function*(fields: URLSearchParams) {
      const visit = yield* visitBy(yield* visitors.current)
      const known = memberVisit(visit)
      if (known === undefined) return yield* renderStale(fields)
      const refused = stateRefusal(known.session.state, { forUsers: true })
      return yield* (refused === undefined ? run(known, fields) : Effect.fail(refused)).pipe(
        Effect.flatMap((view) =>
          HttpServerResponse.isHttpServerResponse(view) ? Effect.succeed(view) : render(known, view)
        ),
        Effect.catch((error) => refusalPage(known, error))
      )
    })
    return Effect.flatMap(HttpRouter.RouteContext, (route) =>
      forms.handle(handler, {
        stale: (fields) => Effect.provideService(renderStale(fields), HttpRouter.RouteContext, route)
      }))
  }

  return WebPages.of({ member, anyone, act, form, render, part })
})
