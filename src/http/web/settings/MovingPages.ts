import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { OwnCredentials } from "../../../services/credentials/OwnCredentials.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { MoveFollowers } from "../../../services/social/MoveFollowers.ts"
import { Moves } from "../../../services/social/Moves.ts"
import { ownPasswordField } from "../../html/Fields.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { linkTo, redirect } from "../../html/HtmlPage.ts"
import { aliasesPath, movePath } from "../../html/PagePaths.ts"
import * as OwnAccountCommands from "../../v1/OwnAccountCommands.ts"
import * as MoveFollowersPage from "./MoveFollowersPage.ts"
import * as SettingsFrame from "./SettingsFrame.ts"
import { type Member, type Refusal, refusalOf } from "./SettingsFrame.ts"

const make = Effect.gen(function*() {
  const { localDomain: server } = yield* ServerConfig
  const commands = yield* OwnAccountCommands.make
  const moveFollowers = yield* MoveFollowers
  const aliasFrame = yield* SettingsFrame.make(aliasesPath)
  const moveFrame = yield* SettingsFrame.make(movePath)

  const aliasView = Effect.fnUntraced(function*(member: Member, refusal?: Refusal) {
    const { formToken, session, way, words: { say } } = member
    const aliases = yield* commands.aliases(session.accountId)
    return yield* aliasFrame.page(member, {
      title: say("Account aliases"),
      refusal: refusal,
      body: html`
<p>${say("To move here from another account, first add it as an alias here. Then start the move there.")}</p>
<form method="post" action="${way(aliasesPath)}">
${tokenInput(formToken)}
<label>${say("Handle of the other account")}
<input type="text" name="account" autocapitalize="none" spellcheck="false" required aria-describedby="form">
<span class="hint" id="form">${say("For example {handle}", { handle: "@name@server.example" })}</span></label>
<button type="submit">${say("Add alias")}</button>
</form>
<ul class="apps below">${
        aliases.map((uri) =>
          html`<li><div class="row"><span>${uri}</span>
<form method="post" action="${way(`${aliasesPath}/remove`)}">${tokenInput(formToken)}${hidden("uri", uri)}
<button type="submit" class="danger" aria-label="${say("Remove alias {alias}", { alias: uri })}">${
            say("Remove")
          }</button></form></div></li>`
        )
      }</ul>`
    })
  })

  const addAlias = aliasFrame.guarded((member, given) =>
    commands.addAlias(member.session.accountId, given.get("account") ?? "").pipe(
      Effect.as(redirect(aliasesPath)),
      Effect.catch((error) => aliasView(member, refusalOf(error)))
    )
  )
  const removeAlias = aliasFrame.submitted((member, given) =>
    commands.removeAlias(member.session.accountId, given.get("uri") ?? "").pipe(
      Effect.as(redirect(aliasesPath)),
      Effect.catch((error) => aliasView(member, refusalOf(error)))
    )
  )

  const moveView = Effect.fnUntraced(function*(member: Member, moved: boolean, refusal?: Refusal) {
    const overview = yield* moveFollowers.overview(member.session.accountId)
    const { formToken, session, way, words } = member
    const { pieces, say } = words
    return yield* moveFrame.page(member, {
      title: say("Move account"),
      refusal: refusal,
      done: moved ? say("The move has started. Your followers are told to follow the new account.") : undefined,
      body: html`
<p>${say("Your followers move to the other account. Your posts stay here. You cannot move again for 30 days.")}</p>
<p>${
        say("First add {handle} as an alias in the other account's settings.", {
          handle: `@${session.username}@${server}`
        })
      }</p>
<form method="post" action="${way(movePath)}">
${tokenInput(formToken)}
<label>${say("Handle of the other account")}
<input type="text" name="account" autocapitalize="none" spellcheck="false" required aria-describedby="form">
<span class="hint" id="form">${say("For example {handle}", { handle: "@name@server.example" })}</span></label>
${ownPasswordField(member, movePath)}
<button type="submit" class="danger">${say("Move followers")}</button>
</form>
<p class="below soft">${
        pieces("Moving to this account? <link>Add the other account as an alias</link>.", {
          link: linkTo(way(aliasesPath))
        })
      }</p>${overview.map((one) => MoveFollowersPage.sectionOf(member, one))}`
    })
  })

  const move = moveFrame.guarded((member, given) =>
    commands.move(
      member.session.accountId,
      Redacted.make(given.get("password") ?? ""),
      given.get("account") ?? ""
    ).pipe(
      Effect.as(redirect(`${movePath}?moved=1`)),
      Effect.catch((error) => moveView(member, false, refusalOf(error)))
    )
  )

  return Layer.mergeAll(
    MoveFollowersPage.layer,
    HttpRouter.add("GET", aliasesPath, aliasFrame.show((member) => aliasView(member))),
    HttpRouter.add("POST", aliasesPath, addAlias),
    HttpRouter.add("POST", `${aliasesPath}/remove`, removeAlias),
    HttpRouter.add(
      "GET",
      movePath,
      moveFrame.show((member, given) => moveView(member, given.has("moved")))
    ),
    HttpRouter.add("POST", movePath, move)
  )
})

/** Aliases of a member's account, its move to another one, and the followers of moves. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([MoveFollowers.layer, Moves.layer, OwnCredentials.layer]))
