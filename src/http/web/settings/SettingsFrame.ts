import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Session } from "../../../services/identity/Sessions.ts"
import { Forms, parameters } from "../../html/Forms.ts"
import { inSession } from "../../html/FreshForms.ts"
import { type Html, html } from "../../html/Html.ts"
import { problem, redirect } from "../../html/HtmlPage.ts"
import { MemberFrame } from "../../html/MemberFrame.ts"
import { signInPath } from "../../html/PagePaths.ts"
import { type Visitor, Visitors } from "../../html/Visitors.ts"

/** A refused form: the error text, and its status. */
export interface Refusal {
  readonly message: string
  readonly status: number
}

interface Content {
  readonly title: string
  readonly body: Html
  readonly refusal?: Refusal | undefined
  /** Text of a finished act. */
  readonly done?: string | undefined
  /** Paths of scripts. */
  readonly modules?: ReadonlyArray<string>
}

/** Signed-in visitor. */
export interface Member extends Visitor {
  readonly session: Session
}

type Response = HttpServerResponse.HttpServerResponse

const statuses: Readonly<Record<string, number>> = {
  NotAllowed: 403,
  RecordNotFound: 404,
  TooManyRequests: 429,
  Unavailable: 503
}

/** Returns the message and HTTP status that a page shows for an error of a service. */
export const refusalOf = ({ _tag, message }: { readonly _tag: string; readonly message: string }): Refusal => ({
  message,
  status: statuses[_tag] ?? 422
})

/** Parts that the settings pages at `path` share. */
export const make = Effect.fnUntraced(function*(path: string) {
  const forms = yield* Forms
  const frame = yield* MemberFrame
  const visitors = yield* Visitors

  const toSignIn = redirect(`${signInPath}?${new URLSearchParams([["return_to", path]])}`)
  const isMember = (visitor: Visitor): visitor is Member => visitor.session !== undefined
  const member =
    <E, R>(work: (member: Member, given: URLSearchParams) => Effect.Effect<Response, E, R>) =>
    (given: URLSearchParams) =>
      Effect.flatMap(visitors.current, (visitor) => isMember(visitor) ? work(visitor, given) : Effect.succeed(toSignIn))
  const user = Effect.map(visitors.current, ({ session }) => session?.accountId)

  return {
    /** Renders a page. */
    page: (visitor: Member, { body, done, modules, title, refusal }: Content) =>
      frame.respond(visitor, path, {
        words: visitor.words,
        title,
        ...(modules !== undefined && { modules }),
        ...(refusal !== undefined && { status: refusal.status }),
        body: html`${problem(refusal === undefined ? undefined : visitor.words.translate(refusal.message))}
${done === undefined ? "" : html`<p class="done" role="status">${done}</p>`}${body}`
      }),
    /** Handler of the page; visitors are sent to the sign-in, and come back. */
    show: <E, R>(work: (member: Member, given: URLSearchParams) => Effect.Effect<Response, E, R>) =>
      Effect.flatMap(parameters, member(work)),
    /** Handler of a form of the page. */
    submitted: <E, R>(work: (member: Member, given: URLSearchParams) => Effect.Effect<Response, E, R>) =>
      forms.handle(member(work)),
    /** Handler of a form that asks for the password again, or fetches accounts: its uses are limited. */
    guarded: <E, R>(work: (member: Member, given: URLSearchParams) => Effect.Effect<Response, E, R>) =>
      forms.handle(member((one, given) => inSession(one.session, work(one, given))), {
        address: "secondFactorAddress",
        user: { limit: "secondFactorUser", of: user }
      })
  }
})
