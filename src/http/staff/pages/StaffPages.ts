import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerResponse } from "effect/http"
import { HttpMethod, HttpRouter, HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { type ClientError, NotAllowed, Unprocessable } from "../../../services/runtime/Errors.ts"
import { may, mayAny, type Permission } from "../../../services/staff/Permissions.ts"
import { StaffMembers } from "../../../services/staff/StaffMembers.ts"
import { WaitingWork } from "../../../services/staff/WaitingWork.ts"
import { ExpensiveReads } from "../../guard/ExpensiveReads.ts"
import { failureResponse } from "../../guard/FailureResponses.ts"
import { Limits } from "../../guard/Limits.ts"
import { flashMessages } from "../../html/FlashMessages.ts"
import { Forms } from "../../html/Forms.ts"
import { tokenField } from "../../html/FormTokens.ts"
import { html } from "../../html/Html.ts"
import { problem, redirect, respond } from "../../html/HtmlPage.ts"
import { mediaSources } from "../../html/MediaSources.ts"
import { signInPath, twoFactorPath } from "../../html/PagePaths.ts"
import { type Visitor, Visitors } from "../../html/Visitors.ts"
import { confirmationPage } from "./parts/Controls.ts"
import { flashBox, staffFrame } from "./Shell.ts"
import { firstPath } from "./StaffNavigation.ts"
import { staffStylePath } from "./StaffStyle.ts"
import type { Act, StaffPage, View, Visit } from "./StaffVisit.ts"

type Response = HttpServerResponse.HttpServerResponse
type Request = HttpServerRequest.HttpServerRequest
type Permissions = Permission | ReadonlyArray<Permission>

/** A file that staff download, such as a CSV list. */
interface StaffFile {
  readonly path: `/admin${string}`
  readonly permission: Permissions
  readonly makeResponse: (visit: Visit) => Effect.Effect<Response, ClientError, Request>
}

/**
 * Pages of staff. Each request checks the permissions of the visitor's role. A missing permission gives 403, as in the
 * API. The paths are public in the source, so a 404 would hide nothing, and would only puzzle staff whose role has
 * changed.
 */
export class StaffPages extends Context.Service<StaffPages, {
  /** Adds the routes of a page and of its forms. */
  readonly page: (page: StaffPage) => Layer.Layer<never, never, HttpRouter.HttpRouter>
  readonly file: (file: StaffFile) => Layer.Layer<never, never, HttpRouter.HttpRouter>
}>()("murmuration/http/staff/pages/StaffPages") {
  static readonly layer = Layer.effect(StaffPages, Effect.suspend(() => make)).pipe(
    // A semaphore of its own: heavy traffic on public pages must not block moderators.
    Layer.provide([Layer.fresh(ExpensiveReads.layer), StaffMembers.layer, WaitingWork.layer])
  )
}

const list = (permissions: Permissions) => typeof permissions === "string" ? [permissions] : permissions

/** Maximum characters of a URL that a page leads back to. */
const hereCharactersMax = 2_000

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const forms = yield* Forms
  const limits = yield* Limits
  const members = yield* StaffMembers
  const expensiveReads = yield* ExpensiveReads
  const visitors = yield* Visitors
  const waiting = yield* WaitingWork
  const notice = flashMessages(config.publicUrl)
  const media = mediaSources(config)

  /** Renders the page in its frame, with an error above the content after a refusal. */
  const respondWith = Effect.fnUntraced(
    function*(
      visitor: Visitor,
      visit: Visit,
      view: View,
      refused?: { readonly text: string; readonly status: number }
    ) {
      const { cookies, method } = yield* HttpServerRequest.HttpServerRequest
      const { formToken, member, path, words } = visit
      const { server } = visitor
      // The response to a form may be stored, and shown repeatedly; the next other page has the notice.
      const flash = HttpMethod.hasBody(method) ? undefined : notice.read(cookies)
      const response = visitor.remember(respond({
        words,
        title: view.title,
        server,
        style: staffStylePath,
        media,
        // Shows addresses of users beside texts of the URL.
        secret: true,
        top: staffFrame({ words, member, server, path, formToken, waiting: yield* waiting.counts }),
        ...(refused !== undefined && { status: refused.status }),
        body: html`${flashBox(words, formToken, flash)}${problem(refused?.text)}${view.body}`
      }))
      return flash === undefined ? response : notice.take(response)
    }
  )

  const textOf = ({ words }: Visit, error: ClientError) => words.translate(error.message)
  const refusal = (visitor: Visitor, visit: Visit, error: ClientError) => {
    const title = error._tag === "RecordNotFound"
      ? visit.words.say("Page not found")
      : error._tag === "NotAllowed"
      ? visit.words.say("Your role does not allow this")
      : visit.words.say("Nothing was changed")
    return Effect.flatMap(
      failureResponse(error),
      ({ status }) => respondWith(visitor, visit, { title, body: html`` }, { text: textOf(visit, error), status })
    )
  }

  /** Runs `makeResponse` for a permitted visitor. Anyone else is redirected or gets a 403. */
  const withPermission = <E, R>(
    permission: Permissions,
    makeResponse: (visitor: Visitor, visit: Visit) => Effect.Effect<Response, E, R>
  ) =>
    Effect.gen(function*() {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const visitor = yield* visitors.current
      const { formToken, server, session, words } = visitor
      const [path = "", search = ""] = url.slice(0, hereCharactersMax).split("?", 2)
      const here = search === "" ? path : `${path}?${search}`
      if (session === undefined) return redirect(`${signInPath}?${new URLSearchParams([["return_to", here]])}`)
      const found = yield* members.find(session.accountId)
      if (Option.exists(found, ({ lacksFactor }) => lacksFactor)) {
        return redirect(`${twoFactorPath}?${new URLSearchParams([["return_to", here]])}`)
      }
      const first = Option.flatMap(found, ({ permissions }) => Option.fromNullishOr(firstPath(permissions)))
      if (Option.isNone(found) || Option.isNone(first)) {
        return respond({
          words,
          title: words.say("Staff only"),
          server,
          status: 403,
          body: html`<p>${words.say("Your account has no staff role.")}</p>`
        })
      }
      const member = found.value
      const visit: Visit = {
        by: session.accountId,
        member,
        words,
        pathAndQuery: here,
        path,
        query: new URLSearchParams(search),
        params: yield* HttpRouter.params,
        form: new URLSearchParams(),
        formToken,
        may: (permissions) => may(member.permissions, permissions)
      }
      if (mayAny(member.permissions, list(permission))) return yield* makeResponse(visitor, visit)
      // The area's root is open to all staff: it redirects to the first page that they may see.
      return path === "/admin" ? redirect(first.value) : yield* refusal(visitor, visit, new NotAllowed({}))
    })

  const withinExpensiveReads = (
    visitor: Visitor,
    visit: Visit,
    makeResponse: Effect.Effect<Response, ClientError, Request>
  ) => Effect.catch(expensiveReads.within(makeResponse), (error) => refusal(visitor, visit, error))

  const get = ({ permission, show }: StaffPage) =>
    withPermission(permission, (visitor, visit) =>
      show(visit).pipe(
        Effect.flatMap((view) => respondWith(visitor, visit, view)),
        (shown) => withinExpensiveReads(visitor, visit, shown)
      ))

  /** Runs a button's action. `post` shows the page again with the reason if the action is refused. */
  const act = Effect.fnUntraced(function*(visitor: Visitor, visit: Visit, acts: Readonly<Record<string, Act>>) {
    const name = visit.form.get("act") ?? ""
    const found = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (found === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    if (found.permission !== undefined && !mayAny(visit.member.permissions, list(found.permission))) {
      return yield* new NotAllowed({})
    }
    const confirmation = visit.form.get("confirmed") === "yes"
      ? undefined
      : yield* (found.confirm?.(visit) ?? Effect.undefined)
    if (confirmation !== undefined) {
      return yield* respondWith(visitor, visit, confirmationPage(visit, name, confirmation))
    }
    const done = yield* found.run(visit)
    return notice.put(redirect(done.to ?? visit.pathAndQuery), done)
  })

  const post = ({ acts = {}, permission, show }: StaffPage) =>
    withPermission(permission, (visitor, asked) =>
      forms.handle((fields) => {
        const form = new URLSearchParams([...fields].filter(([name]) => name !== tokenField))
        const visit: Visit = { ...asked, form }
        return Effect.andThen(
          limits.spend([{ limit: "staffActs", key: String(visit.by) }]),
          act(visitor, visit, acts)
        ).pipe(
          Effect.catch((error) =>
            show(visit).pipe(
              Effect.flatMap((view) =>
                Effect.flatMap(
                  failureResponse(error),
                  ({ status }) => respondWith(visitor, visit, view, { text: textOf(visit, error), status })
                )
              ),
              // The subject of the page no longer exists.
              Effect.catch(() => refusal(visitor, visit, error))
            )
          )
        )
      }))

  return StaffPages.of({
    page: (page) =>
      Layer.merge(
        HttpRouter.add("GET", page.path, get(page)),
        page.acts === undefined ? Layer.empty : HttpRouter.add("POST", page.path, post(page))
      ),
    file: ({ makeResponse, path, permission }) =>
      HttpRouter.add(
        "GET",
        path,
        withPermission(permission, (visitor, visit) =>
          withinExpensiveReads(visitor, visit, makeResponse(visit)).pipe(Effect.catch((error) =>
            refusal(visitor, visit, error)
          )))
      )
  })
})
