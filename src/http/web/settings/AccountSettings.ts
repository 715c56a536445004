import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { OwnCredentials } from "../../../services/credentials/OwnCredentials.ts"
import { emailCharactersMax } from "../../../services/identity/EmailAddresses.ts"
import { Users } from "../../../services/identity/Users.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Limits } from "../../guard/Limits.ts"
import { newPasswordField, ownPasswordField } from "../../html/Fields.ts"
import { tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { accountPath as path } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as LinkedIdentities from "./LinkedIdentities.ts"
import * as SettingsFrame from "./SettingsFrame.ts"
import { type Member, type Refusal, refusalOf } from "./SettingsFrame.ts"

const make = Effect.gen(function*() {
  const { localDomain: server } = yield* ServerConfig
  const identities = yield* LinkedIdentities.make
  const credentials = yield* OwnCredentials
  const frame = yield* SettingsFrame.make(path)
  const limits = yield* Limits
  const users = yield* Users
  const visitors = yield* Visitors

  const view = Effect.fnUntraced(function*(member: Member, changed: string | null, refusal?: Refusal) {
    const { formToken, session, way, words } = member
    const { say } = words
    const user = Option.getOrUndefined(yield* users.find(session.accountId))
    const done = changed === "password"
      ? say("Your password was changed. All other browsers were signed out.")
      : changed === "identity"
      ? say("The sign-in was removed.")
      : changed === "email" && user?.unconfirmedEmail === undefined
      ? say("Your email address was changed.")
      : undefined
    return yield* frame.page(member, {
      title: say("Account"),
      refusal: refusal,
      done,
      body: html`
<p class="soft">${say("Signed in as {account}", { account: `@${session.username}@${server}` })}</p>
<section><h2>${say("Change email address")}</h2>
<p>${say("Your address: {email}", { email: user?.email ?? "" })}</p>
${
        user?.unconfirmedEmail === undefined ?
          "" :
          html`<p class="done" role="status">${
            say("We sent an email to {email}. Open the link in it to confirm the address.", {
              email: user.unconfirmedEmail
            })
          }</p>`
      }
<form method="post" action="${way(`${path}/email`)}">
${tokenInput(formToken)}
<label>${say("New email address")}
<input type="email" name="email" maxlength="${emailCharactersMax}" autocomplete="email" required></label>
${ownPasswordField(member, path)}
<button type="submit">${say("Change email address")}</button>
</form></section>
<section><h2>${say("Change password")}</h2>
<p>${say("All other browsers are signed out. Your apps stay signed in.")}</p>
<form method="post" action="${way(`${path}/password`)}">
${tokenInput(formToken)}
${ownPasswordField(member, path)}
${newPasswordField(words, say("New password"), "new_password")}
<button type="submit">${say("Change password")}</button>
</form></section>
${yield* identities.section(member)}
<form method="post" action="${way("/auth/sign_out")}" class="below">${tokenInput(formToken)}
<p class="row"><button type="submit" class="quiet">${say("Sign out")}</button></p></form>`
    })
  })

  const password = frame.guarded((member, given) =>
    credentials.changePassword(
      member.session.accountId,
      Redacted.make(given.get("password") ?? ""),
      Redacted.make(given.get("new_password") ?? "")
    ).pipe(
      // All sessions were ended, this browser's included, so it gets a new one.
      Effect.andThen(visitors.signIn(member.session.accountId, redirect(`${path}?changed=password`))),
      Effect.catch((error) => view(member, null, refusalOf(error)))
    )
  )

  const email = frame.guarded(Effect.fnUntraced(function*(member, given) {
    const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
    const { accountId } = member.session
    // Each attempt sends an e-mail, to any address.
    return yield* limits.spend([{ limit: "confirmationUser", key: String(accountId) }]).pipe(
      Effect.andThen(
        credentials.changeEmail(
          accountId,
          Redacted.make(given.get("password") ?? ""),
          given.get("email") ?? "",
          Option.getOrUndefined(remoteAddress)
        )
      ),
      Effect.as(redirect(`${path}?changed=email`)),
      Effect.catch((error) => view(member, null, refusalOf(error)))
    )
  }))

  const unlink = frame.guarded((member, given) =>
    credentials.requirePassword(member.session.accountId, Redacted.make(given.get("password") ?? "")).pipe(
      Effect.andThen(identities.unlink(member, given.get("issuer") ?? "")),
      Effect.as(redirect(`${path}?changed=identity`)),
      Effect.catch((error) => view(member, null, refusalOf(error)))
    )
  )

  return Layer.mergeAll(
    HttpRouter.add("POST", LinkedIdentities.unlinkPath, unlink),
    HttpRouter.add("GET", path, frame.show((member, given) => view(member, given.get("changed")))),
    HttpRouter.add("POST", `${path}/password`, password),
    HttpRouter.add("POST", `${path}/email`, email)
  )
})

/** Page on which members change their password and e-mail address. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(OwnCredentials.layer))
