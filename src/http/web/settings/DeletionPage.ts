import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { OwnCredentials } from "../../../services/credentials/OwnCredentials.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Moves } from "../../../services/social/Moves.ts"
import { ownPasswordField } from "../../html/Fields.ts"
import { tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { linkTo, respond } from "../../html/HtmlPage.ts"
import { deletionPath as path, movePath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as OwnAccountCommands from "../../v1/OwnAccountCommands.ts"
import * as SettingsFrame from "./SettingsFrame.ts"
import { type Member, type Refusal, refusalOf } from "./SettingsFrame.ts"

const make = Effect.gen(function*() {
  const { localDomain } = yield* ServerConfig
  const commands = yield* OwnAccountCommands.make
  const frame = yield* SettingsFrame.make(path)
  const visitors = yield* Visitors

  const view = (member: Member, refusal?: Refusal) => {
    const { formToken, session, way, words } = member
    const { pieces, say } = words
    return frame.page(member, {
      title: say("Delete account"),
      refusal: refusal,
      body: html`
<p><strong>${
        say("This deletes {account} with all posts and files, here and on other servers. It cannot be undone.", {
          account: `@${session.username}@${localDomain}`
        })
      }</strong></p>
<p>${say("The name will never be used again. Other servers may keep copies.")}</p>
<p>${pieces("To keep your followers, <link>move your account</link> instead.", { link: linkTo(way(movePath)) })}</p>
<form method="post" action="${way(path)}">
${tokenInput(formToken)}
${ownPasswordField(member, path)}
<button type="submit" class="danger">${say("Delete account")}</button>
</form>`
    })
  }

  const remove = frame.guarded((member, given) => {
    const { server, way, words: { say }, words } = member
    return commands.remove(member.session.accountId, Redacted.make(given.get("password") ?? "")).pipe(
      Effect.andThen(visitors.signOut(respond({
        words,
        title: say("Your account was deleted"),
        server,
        body: html`<p class="done" role="status">${
          say("Your account is gone. Its posts and files are being removed.")
        }</p>
<p><a href="${way("/")}">${say("Back to the front page")}</a></p>`
      }))),
      Effect.catch((error) => view(member, refusalOf(error)))
    )
  })

  return Layer.mergeAll(
    HttpRouter.add("GET", path, frame.show((member) => view(member))),
    HttpRouter.add("POST", path, remove)
  )
})

/** Page on which members delete their account. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([Moves.layer, OwnCredentials.layer]))
