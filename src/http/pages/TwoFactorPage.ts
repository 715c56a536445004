import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import { renderSVG } from "uqr"
import type { Session } from "../../services/identity/Sessions.ts"
import { type Setup, TwoFactor } from "../../services/identity/TwoFactor.ts"
import { ownPasswordField } from "../html/Fields.ts"
import { Forms, hidden, parameters, tokenInput } from "../html/Forms.ts"
import { inSession } from "../html/FreshForms.ts"
import { type Html, html, raw } from "../html/Html.ts"
import { problem, redirect } from "../html/HtmlPage.ts"
import { MemberFrame } from "../html/MemberFrame.ts"
import { signInPath, twoFactorPath as path } from "../html/PagePaths.ts"
import { type Visitor, Visitors } from "../html/Visitors.ts"
import { returnTo } from "./Returns.ts"

/** White margin of the QR code, in modules. */
const quietZoneModules = 4

interface Refusal {
  readonly message: string
  readonly _tag: "TwoFactorRefused" | "Unavailable"
}

const toSignIn = redirect(`${signInPath}?${new URLSearchParams([["return_to", path]])}`)

const make = Effect.gen(function*() {
  const forms = yield* Forms
  const frame = yield* MemberFrame
  const twoFactor = yield* TwoFactor
  const visitors = yield* Visitors

  const page = (visitor: Visitor, body: Html, refusal?: Refusal, title?: string) =>
    frame.respond(visitor, path, {
      words: visitor.words,
      title: title ?? visitor.words.say("Two-factor sign-in"),
      ...(refusal !== undefined && { status: refusal._tag === "Unavailable" ? 503 : 422 }),
      body: html`${problem(refusal === undefined ? undefined : visitor.words.translate(refusal.message))}${body}`
    })

  const form = ({ formToken, way }: Visitor, action: string, to: string, fields: Html, quiet = false) =>
    html`<form method="post" action="${way(`${path}/${action}`)}"${raw(quiet ? ` class="below"` : "")}>
${tokenInput(formToken)}${hidden("return_to", to)}${fields}</form>`

  const passwordField = (visitor: Visitor) => ownPasswordField(visitor, path)
  const codeField = ({ words: { say } }: Visitor, hint: string) =>
    html`<label>${say("Code")}
<input name="code" autocomplete="one-time-code" spellcheck="false" required><span class="hint">${hint}</span></label>`

  const overview = Effect.fnUntraced(function*(visitor: Visitor, session: Session, to: string, refusal?: Refusal) {
    const { enabledAt, recoveryCodesLeft, requiredByRole } = yield* twoFactor.of(session.accountId)
    const { words: { day, say } } = visitor
    if (enabledAt === undefined) {
      return yield* page(
        visitor,
        html`
${
          requiredByRole
            ? html`<p class="done">${say("Your role requires it. You cannot use staff tools until it is on.")}</p>`
            : ""
        }
<p>${
          say(
            "With two-factor sign-in, your password alone is not enough: signing in also takes a code from an app on your phone."
          )
        }</p>
<p>${say("Turning it on signs out all other browsers. Your apps stay signed in.")}</p>
${form(visitor, "setup", to, html`${passwordField(visitor)}<button type="submit">${say("Set up")}</button>`)}`,
        refusal
      )
    }
    const either = say("The six-digit code from your app, or a recovery code.")
    const both = html`${passwordField(visitor)}${codeField(visitor, either)}`
    return yield* page(
      visitor,
      html`<p class="done">${say("On since {day}.", { day: day(enabledAt) })}</p>
<p>${
        say(
          "{left, plural, one {# recovery code is left.} other {# recovery codes are left.}}",
          { left: recoveryCodesLeft }
        )
      }</p>
${
        form(
          visitor,
          "recovery_codes",
          to,
          html`<h2>${say("New recovery codes")}</h2>
<p class="soft">${say("This makes your current codes invalid.")}</p>${both}<button type="submit" class="quiet">${
            say("Generate new codes")
          }</button>`
        )
      }
${
        form(
          visitor,
          "disable",
          to,
          html`<h2>${say("Turn off")}</h2>
<p class="soft">${
            requiredByRole
              ? say("Your role requires it: without it you cannot use staff tools.")
              : say("You will be able to sign in with the password alone.")
          }</p>${both}<button type="submit" class="danger">${say("Turn off")}</button>`,
          true
        )
      }
<p class="below"><a href="${to}">${say("Next")}</a></p>`,
      refusal
    )
  })

  const setUp = (visitor: Visitor, { address, secret, setup }: Setup, to: string, refusal?: Refusal) => {
    const { words: { say } } = visitor
    return page(
      visitor,
      html`<p>${say("Scan this code with your authenticator app:")}</p>
<div class="qr" role="img" aria-label="${say("QR code")}">${raw(renderSVG(address, { border: quietZoneModules }))}</div>
<p>${say("Or enter this secret:")}</p>
<code class="secret">${Redacted.value(secret).replaceAll(/.{4}(?=.)/g, "$& ")}</code>
${
        form(
          visitor,
          "confirm",
          to,
          html`${hidden("setup", setup)}${
            codeField(visitor, say("The six-digit code from your app."))
          }<button type="submit">${say("Turn on")}</button>`
        )
      }`,
      refusal
    )
  }

  const codesOnce = (visitor: Visitor, codes: ReadonlyArray<Redacted.Redacted>, to: string) => {
    const { words: { say } } = visitor
    return page(
      visitor,
      html`<p class="done" role="status">${say("Two-factor sign-in is on")}</p>
<p>${
        say(
          "Each of these codes lets you sign in once if you lose your phone. Write them down: they are not shown again."
        )
      }</p>
<code class="secret">${raw(codes.map(Redacted.value).join("<br>"))}</code>
<p><a href="${to}">${say("Next")}</a></p>`,
      undefined,
      say("Recovery codes")
    )
  }

  /** Handler for signed-in users; others are sent to the sign-in. */
  const known = <E, R>(
    work: (visitor: Visitor, session: Session, to: string, given: URLSearchParams) => Effect.Effect<Response, E, R>
  ) =>
    Effect.fnUntraced(function*(given: URLSearchParams) {
      const visitor = yield* visitors.current
      return visitor.session === undefined
        ? toSignIn
        : yield* inSession(
          visitor.session,
          work(visitor, visitor.session, returnTo(given.get("return_to")), given)
        )
    })
  const accountId = Effect.map(visitors.current, ({ session }) => session?.accountId)
  const submitted = <E, R>(work: Parameters<typeof known<E, R>>[0]) =>
    forms.handle(known(work), { address: "secondFactorAddress", user: { limit: "secondFactorUser", of: accountId } })

  const password = (given: URLSearchParams) => Redacted.make(given.get("password") ?? "")
  const code = (given: URLSearchParams) => given.get("code") ?? ""

  const show = Effect.flatMap(parameters, known((visitor, session, to) => overview(visitor, session, to)))
  const begin = submitted((visitor, session, to, given) =>
    twoFactor.begin(session.accountId, password(given)).pipe(
      Effect.flatMap((setup) => setUp(visitor, setup, to)),
      Effect.catch((refusal) => overview(visitor, session, to, refusal))
    )
  )
  const confirm = submitted((visitor, { accountId, ...session }, to, given) => {
    const setup = given.get("setup") ?? ""
    return twoFactor.confirm(accountId, setup, code(given)).pipe(
      // All sessions were ended, this browser's included, so it gets a new one.
      Effect.flatMap((codes) =>
        Effect.flatMap(codesOnce(visitor, codes, to), (page) => visitors.signIn(accountId, page))
      ),
      Effect.catch((refusal) =>
        refusal.reason === "code"
          ? Effect.flatMap(twoFactor.setupOf(accountId, setup), (same) => setUp(visitor, same, to, refusal))
          : Effect.fail(refusal)
      ),
      Effect.catch((refusal) => overview(visitor, { accountId, ...session }, to, refusal))
    )
  })
  const renew = submitted((visitor, session, to, given) =>
    twoFactor.renew(session.accountId, password(given), code(given)).pipe(
      Effect.flatMap((codes) => codesOnce(visitor, codes, to)),
      Effect.catch((refusal) => overview(visitor, session, to, refusal))
    )
  )
  const disable = submitted((visitor, session, to, given) =>
    twoFactor.switchOff(session.accountId, password(given), code(given)).pipe(
      Effect.andThen(Effect.sync(() => redirect(path))),
      Effect.catch((refusal) => overview(visitor, session, to, refusal))
    )
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", path, show),
    HttpRouter.add("POST", `${path}/setup`, begin),
    HttpRouter.add("POST", `${path}/confirm`, confirm),
    HttpRouter.add("POST", `${path}/recovery_codes`, renew),
    HttpRouter.add("POST", `${path}/disable`, disable)
  )
})

type Response = HttpServerResponse.HttpServerResponse

/** Page on which users set up, renew and disable their second factor. */
export const layer = Layer.unwrap(make)
