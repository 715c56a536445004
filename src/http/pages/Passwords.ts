import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { parse } from "../../services/identity/EmailAddresses.ts"
import { MailLinks } from "../../services/identity/MailLinks.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { newPasswordField } from "../html/Fields.ts"
import { Forms, hidden, parameters, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
import { signInPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import { expiredLink } from "./ExpiredLink.ts"

const askPath = "/auth/password/new"
const editPath = "/auth/password/edit"
const linkField = "reset_password_token"

const make = Effect.gen(function*() {
  const { provider } = yield* ServerConfig
  const forms = yield* Forms
  const mailLinks = yield* MailLinks
  const visitors = yield* Visitors

  /** Page of a server on which passwords are refused. */
  const withoutPasswords = Effect.map(visitors.reader, ({ server, way, words: { say }, words }) =>
    respond({
      words,
      title: say("Forgot your password?"),
      server,
      status: 403,
      body: html`${problem(say("This server does not accept passwords. Sign in with its identity provider."))}
<p><a href="${way(signInPath)}">${say("Sign in")}</a></p>`
    }))
  const ifAccepted = <E, R>(
    page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
    provider?.only === true ? withoutPasswords : page

  const ask = Effect.map(visitors.current, ({ formToken, remember, server, way, words }) =>
    remember(respond({
      words,
      title: words.say("Forgot your password?"),
      server,
      body: html`
<p>${words.say("We will email you a link to choose a new password.")}</p>
<form method="post" action="${way("/auth/password")}">
${tokenInput(formToken)}
<label>${words.say("Email address")}
<input type="email" name="email" autocomplete="username" required autofocus></label>
<p class="row"><button type="submit">${words.say("Send email")}</button>
<a href="${way(signInPath)}">${words.say("Sign in")}</a></p>
</form>`
    })))

  // Shows the same page whether or not the account exists.
  const sent = Effect.map(visitors.reader, ({ server, way, words: { say }, words }) =>
    respond({
      words,
      title: say("Check your email"),
      server,
      body: html`<p class="done" role="status">${
        say("If an account with this address exists, we sent an email to it.")
      }</p>
<p>${say("The link in the email works for six hours.")} <a href="${way(signInPath)}">${say("Sign in")}</a></p>`
    }))
  const send = forms.handle(
    (form) => Effect.andThen(mailLinks.requestPasswordReset(parse(form.get("email") ?? "")), sent),
    { address: "mailAddress", email: "mailEmail" }
  )

  const tooOld = expiredLink(
    visitors,
    ({ say }) => say("It was already used, is older than six hours, or was replaced by a newer email."),
    askPath
  )

  const edit = Effect.fnUntraced(function*(link: string, refused?: { readonly text: string; readonly status: number }) {
    const { formToken, remember, server, way, words } = yield* visitors.current
    const { say } = words
    return remember(respond({
      words,
      title: say("Set a new password"),
      server,
      ...(refused !== undefined && { status: refused.status }),
      body: html`
${problem(refused === undefined ? undefined : words.translate(refused.text))}
<form method="post" action="${way(editPath)}">
${tokenInput(formToken)}${hidden(linkField, link)}
${newPasswordField(words, say("New password"))}
<p>${say("All your sessions and apps will be signed out.")}</p>
<button type="submit">${say("Set password")}</button>
</form>`
    }))
  })

  const showEdit = Effect.gen(function*() {
    const link = (yield* parameters).get(linkField) ?? ""
    return (yield* mailLinks.opensPasswordReset(link)) ? yield* edit(link) : yield* tooOld
  })

  const changed = Effect.map(visitors.reader, ({ server, way, words: { say }, words }) =>
    respond({
      words,
      title: say("Your password was set"),
      server,
      body: html`<p class="done" role="status">${say("You can now sign in with it.")}</p>
<p><a href="${way(signInPath)}">${say("Sign in")}</a></p>`
    }))
  const set = forms.handle((form) => {
    const link = form.get(linkField) ?? ""
    return mailLinks.resetPassword(link, Redacted.make(form.get("password") ?? "")).pipe(
      Effect.andThen(changed),
      Effect.catchTags({
        RecordNotFound: () => tooOld,
        Unprocessable: ({ message }) => edit(link, { text: message, status: 422 }),
        Unavailable: ({ message }) => edit(link, { text: message, status: 503 })
      })
    )
  }, { address: "passwordChange" })

  return Layer.mergeAll(
    HttpRouter.add("GET", askPath, ifAccepted(ask)),
    HttpRouter.add("POST", "/auth/password", ifAccepted(send)),
    HttpRouter.add("GET", editPath, ifAccepted(showEdit)),
    HttpRouter.add("POST", editPath, ifAccepted(set)),
    HttpRouter.add("GET", "/.well-known/change-password", redirect(askPath))
  )
})

/** Password reset by the link in an e-mail (valid for 6 hours). */
export const layer = Layer.unwrap(make)
