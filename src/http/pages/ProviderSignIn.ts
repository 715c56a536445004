import { Effect, identity, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import type { SignInRefused } from "../../services/identity/SignIns.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { StrikeLinks } from "../../services/moderation/StrikeLinks.ts"
import type { ProviderFailed, ProviderRefused } from "../../services/oidc/IdentityProvider.ts"
import { providerCallbackPath, providerPath } from "../../services/oidc/ProviderPaths.ts"
import { type Newcomer, ProviderSignIns } from "../../services/oidc/ProviderSignIns.ts"
import { BrowserSessions } from "../guard/BrowserSessions.ts"
import { Forms, parameters } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
import { signInTo } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import * as ProviderCookie from "./ProviderCookie.ts"
import { returnTo } from "./Returns.ts"
import * as SecondStep from "./SecondStep.ts"
import * as SignUpForm from "./SignUpForm.ts"

type Response = HttpServerResponse.HttpServerResponse
type SignedIn = Effect.Success<ReturnType<ProviderSignIns["Service"]["enter"]>>

/** Page on which a person of the provider chooses a username. */
const newcomerPath = `${providerPath}/sign_up`

const make = Effect.gen(function*() {
  const { localDomain: server, provider } = yield* ServerConfig
  if (provider === undefined) return Layer.empty
  const cookie = yield* ProviderCookie.make
  const form = yield* SignUpForm.make
  const forms = yield* Forms
  const links = yield* StrikeLinks
  const signIns = yield* ProviderSignIns
  const visitors = yield* Visitors

  /** Page about a sign-in that cannot go on. */
  const stopped = (text: (words: Catalog) => string, status: number, to: string) =>
    Effect.map(visitors.reader, ({ way, words }) =>
      respond({
        words,
        title: words.say("Sign in"),
        server,
        status,
        body: html`${problem(text(words))}<p><a href="${way(signInTo(to))}">${words.say("Sign in")}</a></p>`
      }))
  /** Page about a failed sign-in, which ends the browser's state. A late one keeps it, as it may be another tab's. */
  const failed = (error: ProviderFailed | ProviderRefused | SignInRefused, to: string) => {
    const isLate = error._tag === "ProviderRefused" && error.reason === "late"
    return Effect.map(
      stopped(({ translate }) => translate(error.message), error._tag === "ProviderFailed" ? 503 : 403, to),
      isLate ? identity : cookie.end
    )
  }

  const begin = Effect.gen(function*() {
    const to = returnTo((yield* parameters).get("return_to"))
    return yield* signIns.begin(to).pipe(
      Effect.map(({ sealed, url }) => cookie.keep(sealed, redirect(url))),
      Effect.catch((error) => failed(error, to))
    )
  })

  /** Starts the session, or leads to the second step, or to the strikes of a disabled user. */
  const entered = (
    found: SignedIn,
    to: string
  ): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> => {
    switch (found._tag) {
      case "SignedIn":
        return visitors.signIn(found.accountId, cookie.end(SecondStep.redirectSignedIn(found, to)))
      case "DisabledSignIn":
        return Effect.map(links.listPath(found.accountId), (path) => cookie.end(redirect(path)))
      case "CodeRequired":
        return Effect.succeed(visitors.keepPending(found.pending, cookie.end(SecondStep.redirectToSecondStep(to))))
    }
  }

  const end = Effect.gen(function*() {
    const sealed = yield* cookie.current
    const to = returnTo((yield* signIns.returning(sealed)) ?? null)
    return yield* signIns.finish(yield* parameters, sealed).pipe(
      Effect.flatMap((found) =>
        found._tag === "Unknown"
          ? Effect.succeed(cookie.keep(found.sealed, redirect(newcomerPath)))
          : entered(found, to)
      ),
      Effect.catch((error) => failed(error, to))
    )
  })

  const targetOf = (newcomer: Newcomer) => ({
    path: newcomerPath,
    inviteCode: undefined,
    newcomer,
    enter: (accountId: AccountId) =>
      signIns.enter(accountId, newcomer).pipe(
        Effect.flatMap((found) => entered(found, returnTo(newcomer.to))),
        Effect.catch((error) => failed(error, returnTo(newcomer.to)))
      )
  })

  const toSignIn = redirect(signInTo(returnTo(null)))
  const newcomer = Effect.flatMap(cookie.current, signIns.newcomer)
  /** Returns the redirect of a person who already has an account, as after a second form; undefined for others. */
  const known = Effect.fnUntraced(function*(person: Newcomer) {
    if (!(yield* signIns.isKnown(person))) return undefined
    const query = new URLSearchParams([["return_to", returnTo(person.to)]])
    return cookie.end(redirect(`${providerPath}?${query}`))
  })
  const show = Effect.gen(function*() {
    const person = yield* newcomer
    return person === undefined ? toSignIn : (yield* known(person)) ?? (yield* form.show(targetOf(person)))
  })
  const signUp = forms.handle(
    Effect.fnUntraced(function*(given) {
      const person = yield* newcomer
      if (person === undefined) return toSignIn
      const refused = Effect.map(
        stopped(({ say }) => say("Sign-ups from your network are not accepted."), 403, returnTo(person.to)),
        cookie.end
      )
      return (yield* known(person)) ??
        (yield* form.submit(
          given,
          targetOf(person),
          Effect.flatMap(known(person), (response) => response === undefined ? refused : Effect.succeed(response))
        ))
    }),
    { address: "signUp" }
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", providerPath, begin),
    HttpRouter.add("GET", providerCallbackPath, end),
    HttpRouter.add("GET", newcomerPath, show),
    HttpRouter.add("POST", newcomerPath, signUp)
  )
})

/** Sign-in by the configured OpenID provider, and the first sign-up of its people. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([BrowserSessions.layer, StrikeLinks.layer]))
