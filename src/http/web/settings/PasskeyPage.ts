import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { OwnCredentials } from "../../../services/credentials/OwnCredentials.ts"
import { passkeyNameCharactersMax, Passkeys } from "../../../services/identity/Passkeys.ts"
import { ownPasswordField } from "../../html/Fields.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { passkeysPath as path } from "../../html/PagePaths.ts"
import { passkeyForm, passkeyScriptPath } from "../../pages/PasskeyForm.ts"
import * as SettingsFrame from "./SettingsFrame.ts"
import { type Member, type Refusal, refusalOf } from "./SettingsFrame.ts"

const make = Effect.gen(function*() {
  const credentials = yield* OwnCredentials
  const frame = yield* SettingsFrame.make(path)
  const passkeys = yield* Passkeys

  const view = Effect.fnUntraced(function*(member: Member, refusal?: Refusal) {
    const { formToken, session, way, words } = member
    const { day, say } = words
    const all = yield* passkeys.list(session.accountId)
    return yield* frame.page(member, {
      title: say("Passkeys"),
      refusal: refusal,
      body: html`
<p>${
        say(
          "A passkey signs you in with your fingerprint, face or device PIN, without a password. It also works as a second factor."
        )
      }</p>
<ul class="apps">${
        all.map(({ createdAt, id, name, usedAt }) =>
          html`<li><h2 dir="auto">${name}</h2>
<p>${
            usedAt === undefined
              ? say("Added on {day}, never used", { day: day(createdAt) })
              : say("Added on {day}, last used on {lastDay}", { day: day(createdAt), lastDay: day(usedAt) })
          }</p>
<details><summary>${say("Remove")}</summary>
<form method="post" action="${way(`${path}/remove`)}">${tokenInput(formToken)}${hidden("id", id)}
${ownPasswordField(member, path)}
<button type="submit" class="danger" aria-label="${say("Remove passkey {name}", { name })}">${say("Remove")}</button>
</form></details></li>`
        )
      }</ul>
<form method="post" action="${way(`${path}/new`)}">
${tokenInput(formToken)}
<h2>${say("Add a passkey")}</h2>
<label>${say("Name of the passkey")}
<input type="text" name="name" maxlength="${passkeyNameCharactersMax}" required></label>
${ownPasswordField(member, path)}
<button type="submit">${say("Next")}</button>
</form>
<noscript><p class="soft">${say("Passkeys need JavaScript, which your browser does not run here.")}</p></noscript>`
    })
  })

  const begin = frame.guarded((member, given) =>
    Effect.gen(function*() {
      const { session, words: { say } } = member
      yield* credentials.requirePassword(session.accountId, Redacted.make(given.get("password") ?? ""))
      const options = yield* passkeys.beginRegistration(session.accountId, session.username)
      return yield* frame.page(member, {
        title: say("Add a passkey"),
        modules: [passkeyScriptPath],
        // Secret: its challenge stands for the password, so that no copy of the page is stored.
        body: html`
<p>${say("Your browser asks where to keep the passkey, and for your fingerprint, face or PIN.")}</p>
<div class="secret">${
          passkeyForm(member, {
            action: path,
            button: say("Create passkey"),
            fields: hidden("name", (given.get("name") ?? "").slice(0, passkeyNameCharactersMax)),
            options
          })
        }</div>
<noscript><p class="soft">${say("Passkeys need JavaScript, which your browser does not run here.")}</p></noscript>`
      })
    }).pipe(Effect.catch((error) => view(member, refusalOf(error))))
  )

  const register = frame.submitted((member, given) =>
    passkeys.register(member.session.accountId, given.get("name") ?? "", given.get("credential") ?? "").pipe(
      Effect.as(redirect(path)),
      Effect.catch((error) => view(member, refusalOf(error)))
    )
  )

  const remove = frame.guarded((member, given) =>
    credentials.requirePassword(member.session.accountId, Redacted.make(given.get("password") ?? "")).pipe(
      Effect.andThen(passkeys.remove(member.session.accountId, given.get("id") ?? "")),
      Effect.as(redirect(path)),
      Effect.catch((error) => view(member, refusalOf(error)))
    )
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", path, frame.show((member) => view(member))),
    HttpRouter.add("POST", path, register),
    HttpRouter.add("POST", `${path}/new`, begin),
    HttpRouter.add("POST", `${path}/remove`, remove)
  )
})

/** Page on which members add and remove passkeys. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(OwnCredentials.layer))
