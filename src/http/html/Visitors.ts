import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import type { FormOwner } from "../../services/identity/FormPages.ts"
import { pendingSignInMillisMax } from "../../services/identity/PendingSignIns.ts"
import { type Session, sessionMillisMax, Sessions } from "../../services/identity/Sessions.ts"
import { SignInPlaces } from "../../services/identity/SignInPlaces.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ServerTitle } from "../../services/instance/ServerTitle.ts"
import { UserCatalogs } from "../../services/instance/UserCatalogs.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { OpaqueSecrets } from "../../services/secrets/OpaqueSecrets.ts"
import { BrowserSessions } from "../guard/BrowserSessions.ts"
import { langOf } from "../languages/RequestedLanguage.ts"
import * as EarlierSessions from "./EarlierSessions.ts"
import * as FormTokens from "./FormTokens.ts"

/** Reader of one of our pages. */
export interface PageReader {
  /** Catalog of the reader's language. */
  readonly words: Catalog
  /** Title of the server, for the frame of a page. */
  readonly server: string
  /** Adds the language that the reader requested to one of our paths. */
  readonly way: (path: string) => string
}

/** Visitor of one of our pages, with a browser session. */
export interface Visitor extends PageReader {
  readonly session: Session | undefined
  /** CSRF token that each form sends back; masked differently in each response. */
  readonly formToken: string
  /** Sets the visitor's cookies on the response, if they are new. */
  readonly remember: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
}

type Request = HttpServerRequest.HttpServerRequest

/**
 * Identifies visitors of our pages by their cookies. One cookie holds the session; the other holds a secret of the
 * browser. Every form's token is derived from it, so that another site can neither read nor guess the token (row 72).
 */
export class Visitors extends Context.Service<Visitors, {
  readonly current: Effect.Effect<Visitor, never, Request>
  /** Reader of a page without forms. */
  readonly reader: Effect.Effect<PageReader, never, Request>
  /** Returns false for the origin of another site; requests without one are checked otherwise. */
  readonly isOurOrigin: (origin: string | undefined) => boolean
  /** Returns false if a request's headers alone show that another site sent the form. */
  readonly mayBeOurs: (request: Request) => boolean
  /** Returns true if a form was sent by one of our pages, in this browser and session. */
  readonly isOurs: (formToken: string | null | undefined) => Effect.Effect<boolean, never, Request>
  /** Owner of stored responses to forms: the session, otherwise the browser; undefined without cookies. */
  readonly formOwner: Effect.Effect<FormOwner | undefined, never, Request>
  /** Starts a session with a new secret, and ends the previous one. */
  readonly signIn: (
    accountId: AccountId,
    response: HttpServerResponse.HttpServerResponse
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Request>
  /** Stores the secret of a sign-in that waits for its second factor in a cookie. */
  readonly keepPending: (
    pending: Redacted.Redacted,
    response: HttpServerResponse.HttpServerResponse
  ) => HttpServerResponse.HttpServerResponse
  /** Secret of the sign-in that waits for its second factor. */
  readonly pending: Effect.Effect<Redacted.Redacted | undefined, never, Request>
  readonly signOut: (
    response: HttpServerResponse.HttpServerResponse
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Request>
}>()("murmuration/http/html/Visitors") {
  static readonly layer = Layer.effect(Visitors, Effect.suspend(() => make)).pipe(
    Layer.provide([BrowserSessions.layer, ServerTitle.layer, UserCatalogs.layer])
  )
}

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const random = yield* SecureRandom.SecureRandom
  const secrets = yield* OpaqueSecrets
  const sessions = yield* Sessions
  const places = yield* SignInPlaces
  const catalogs = yield* UserCatalogs
  const title = yield* ServerTitle
  const secure = publicUrl.startsWith("https:")
  const { of: sessionOf, prefix, secretIn } = yield* BrowserSessions
  const [sessionCookie, formCookie, pendingCookie] = [`${prefix}session`, `${prefix}form`, `${prefix}pending`]
  const attributes = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const

  const cookie = (request: Request, name: string) => request.cookies[name] || undefined
  const tokenFor = (request: Request, form: string) => secrets.hash(`${form}.${cookie(request, sessionCookie) ?? ""}`)

  const readerOf = (request: Request, session: Option.Option<Session>): Effect.Effect<PageReader> => {
    const lang = langOf(request)
    const locale = Option.getOrUndefined(session)?.locale
    const way = (path: string) =>
      lang === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ lang })}`
    return Effect.all({
      words: catalogs.of({ lang, locale, header: request.headers["accept-language"] }),
      server: title.current,
      way: Effect.succeed(way)
    })
  }

  const reader = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) => Effect.flatMap(sessionOf(request), (session) => readerOf(request, session))
  )

  const current = traced("Visitors.current")(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const session = yield* sessionOf(request)
    const known = cookie(request, formCookie)
    const form = known ?? Redacted.value(yield* secrets.make)
    return {
      ...(yield* readerOf(request, session)),
      session: Option.getOrUndefined(session),
      formToken: FormTokens.mask(yield* tokenFor(request, form), yield* random.randomBytes(FormTokens.tokenBytes)),
      remember: (response: HttpServerResponse.HttpServerResponse) =>
        known === undefined ? HttpServerResponse.setCookieUnsafe(response, formCookie, form, attributes) : response
    }
  })()

  const formOwner = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const form = cookie(request, formCookie)
    return Effect.map(
      sessionOf(request),
      Option.getOrElse((): FormOwner | undefined => form === undefined ? undefined : Redacted.make(form))
    )
  })

  const isOurOrigin = (origin: string | undefined) => origin === undefined || origin === publicUrl

  /** Returns true if the form comes from our own origin, which browsers state. */
  const fromOurPages = ({ headers }: Request) => {
    const origin = headers["origin"]
    if (origin !== undefined) return origin === publicUrl
    const site = headers["sec-fetch-site"]
    return site === undefined || site === "same-origin" || site === "none"
  }

  const mayBeOurs = (request: Request) => cookie(request, formCookie) !== undefined && fromOurPages(request)

  const isOurs = traced("Visitors.isOurs")(function*(formToken: string | null | undefined) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const form = cookie(request, formCookie)
    if (form === undefined || !formToken || !mayBeOurs(request)) return false
    const token = FormTokens.unmask(formToken)
    return token !== undefined && Mac.timingSafeEqual(yield* tokenFor(request, form), token)
  })

  const endCurrent = Effect.fnUntraced(function*(request: Request) {
    const secret = secretIn(request)
    if (secret !== undefined) yield* sessions.end(secret)
  })

  const signIn: Visitors["Service"]["signIn"] = traced("Visitors.signIn")(function*(accountId, response) {
    const request = yield* HttpServerRequest.HttpServerRequest
    yield* endCurrent(request)
    const browser = {
      userAgent: request.headers["user-agent"] ?? "",
      address: Option.getOrUndefined(request.remoteAddress)
    }
    const secret = yield* sessions.start(accountId, browser)
    yield* places.record(accountId, browser)
    const known = HttpServerResponse.setCookieUnsafe(response, sessionCookie, Redacted.value(secret), {
      ...attributes,
      maxAge: sessionMillisMax
    })
    const renewed = EarlierSessions.hadSession(request) ? EarlierSessions.forget(known) : known
    return cookie(request, pendingCookie) === undefined
      ? renewed
      : HttpServerResponse.setCookieUnsafe(renewed, pendingCookie, "", { ...attributes, maxAge: 0 })
  })

  const keepPending: Visitors["Service"]["keepPending"] = (pending, response) =>
    HttpServerResponse.setCookieUnsafe(response, pendingCookie, Redacted.value(pending), {
      ...attributes,
      maxAge: pendingSignInMillisMax
    })
  const pending = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const secret = cookie(request, pendingCookie)
    return secret === undefined ? undefined : Redacted.make(secret)
  })

  const signOut: Visitors["Service"]["signOut"] = traced("Visitors.signOut")(function*(response) {
    yield* endCurrent(yield* HttpServerRequest.HttpServerRequest)
    return HttpServerResponse.setCookieUnsafe(response, sessionCookie, "", { ...attributes, maxAge: 0 })
  })

  return Visitors.of({
    current,
    reader,
    isOurOrigin,
    mayBeOurs,
    isOurs,
    formOwner,
    signIn,
    keepPending,
    pending,
    signOut
  })
})
