import { Context, Effect, Layer } from "effect"
import { HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import * as EmailAddresses from "../../services/identity/EmailAddresses.ts"
import { FormPages } from "../../services/identity/FormPages.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { type LimitName, Limits } from "../guard/Limits.ts"
import { limitHeaders } from "../guard/Reply.ts"
import * as FormResponses from "./FormResponses.ts"
import { tokenField } from "./FormTokens.ts"
import { type Html, html } from "./Html.ts"
import { problem, respond } from "./HtmlPage.ts"
import { Visitors } from "./Visitors.ts"

type Response = HttpServerResponse.HttpServerResponse
type Request = HttpServerRequest.HttpServerRequest

/** Limits that a form spends: of the sender's address, of the e-mail address in it, and of its user. */
interface Costs {
  readonly address?: LimitName
  readonly email?: LimitName
  readonly user?: { readonly limit: LimitName; readonly of: Effect.Effect<AccountId | undefined, never, Request> }
  /** Response to a form of this browser that outlived its session; an error page without its texts by default. */
  readonly stale?: (form: URLSearchParams) => Effect.Effect<Response, never, Request>
}

/** Forms of our pages. */
export class Forms extends Context.Service<Forms, {
  /**
   * Handles a form that one of our pages sent, within its limits. Any other form, and one over a limit, gets an error
   * page. A browser is redirected to a stored copy of a page that responds to its form (`FormResponses.ts`).
   */
  readonly handle: <E, R>(
    handler: (form: URLSearchParams) => Effect.Effect<Response, E, R>,
    costs?: Costs
  ) => Effect.Effect<Response, E, R | Request>
  /** Redirects a browser to a stored copy of the page that responds to a form without a token, which changes nothing. */
  readonly keep: <E, R>(response: Effect.Effect<Response, E, R>) => Effect.Effect<Response, E, R | Request>
}>()("murmuration/http/html/Forms") {
  static readonly layer = Layer.effect(Forms, Effect.suspend(() => make)).pipe(Layer.provide(FormPages.layer))
}

/** Fields of a form, including its query, or the query of a page. */
export const parameters = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!HttpMethod.hasBody(request.method)) return new URLSearchParams(request.url.split("?")[1] ?? "")
  // `body/Body` turns any body into JSON, and refuses invalid ones itself.
  const body = yield* Effect.orDie(request.json)
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? Object.entries(body) : []
  return new URLSearchParams(
    fields.flatMap(([name, value]) => textsOf(value).map((text): [string, string] => [name, text]))
  )
})

/** Returns all values of a repeated name (`ids[]`). */
const textsOf = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string")

/** Renders that field, the only way to put the token into a page. */
export const tokenInput = (formToken: string): Html => hidden(tokenField, formToken)

/** Renders a hidden field. `HtmlPage.ts` does not compress a page with a hidden field besides the token. */
export const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`

const returnField = Effect.map(parameters, (form) => form.get("return"))

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const limits = yield* Limits
  const responses = yield* FormResponses.make
  const visitors = yield* Visitors

  /** Response to a form that is from another site, or was opened before the last sign-in. */
  const foreignForm = Effect.map(visitors.reader, ({ server, words }) =>
    respond({
      words,
      title: words.say("This form is no longer valid"),
      server,
      status: 403,
      body: html`
${problem(words.say("For your security, we only accept forms from pages that were opened recently."))}
<p>${
        words.pieces(
          "Go back, reload the page and submit it again. The address of this server is {address}, and your browser must accept cookies.",
          { address: html`<a href="${publicUrl}">${publicUrl}</a>` }
        )
      }</p>`
    }))

  const tooMany = Effect.map(visitors.reader, ({ server, words }) =>
    respond({
      words,
      title: words.say("Too many attempts"),
      server,
      status: 429,
      body: problem(
        words.say("Too many attempts from your network in a short time. Please wait a while and try again.")
      )
    }))

  /** Spends a limit; returns an error page if it is exhausted, otherwise undefined. */
  const spend = (limit: LimitName | undefined, key: string | undefined) =>
    limit === undefined || key === undefined ? Effect.undefined : limits.spend([{ limit, key }]).pipe(
      Effect.as(undefined),
      Effect.catch(({ limit, resetAt }) =>
        Effect.map(tooMany, HttpServerResponse.setHeaders(limitHeaders({ limit, remaining: 0, resetAt })))
      )
    )

  // Checks the header, then the body, then the database, so that each is only reached past the previous one.
  const respondTo: Forms["Service"]["handle"] = Effect.fnUntraced(function*(handler, costs) {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!visitors.mayBeOurs(request)) return yield* foreignForm
    const beforeBody = yield* spend(costs?.address, addressOf(request))
    if (beforeBody !== undefined) return beforeBody
    const form = yield* parameters
    if (!(yield* visitors.isOurs(form.get(tokenField)))) return yield* costs?.stale?.(form) ?? foreignForm
    const refused = yield* spend(costs?.email, EmailAddresses.limitKey(form.get("email") ?? ""))
    if (refused !== undefined) return refused
    const user = costs?.user === undefined ? undefined : yield* costs.user.of
    const over = user === undefined ? undefined : yield* spend(costs?.user?.limit, String(user))
    return over ?? (yield* handler(form))
  })

  const keep: Forms["Service"]["keep"] = Effect.flatMap((response) => responses.settle(response, returnField))

  return Forms.of({ handle: (handler, costs) => keep(respondTo(handler, costs)), keep })
})
