import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Sessions } from "../../../services/identity/Sessions.ts"
import { browserOf } from "../../../services/identity/SignInPlaces.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { linkTo, redirect } from "../../html/HtmlPage.ts"
import { accountPath, authorizedAppsPath, sessionsPath as path } from "../../html/PagePaths.ts"
import * as SettingsFrame from "./SettingsFrame.ts"
import type { Member } from "./SettingsFrame.ts"

const make = Effect.gen(function*() {
  const frame = yield* SettingsFrame.make(path)
  const sessions = yield* Sessions

  const view = Effect.fnUntraced(function*(member: Member) {
    const { formToken, session, way, words } = member
    const { day, pieces, say } = words
    const all = yield* sessions.list(session.accountId)
    return yield* frame.page(member, {
      title: say("Sessions"),
      body: html`
<p>${
        pieces("Browsers that are signed in to your account. <link>Apps</link> have their own list.", {
          link: linkTo(way(authorizedAppsPath))
        })
      }</p>
<ul class="apps">${
        all.map(({ createdAt, ip, seenAt, sessionId, userAgent }) => {
          const browser = browserOf(userAgent)
          return html`
<li><div class="row"><h2>${browser}</h2>
${
            sessionId === session.sessionId
              ? html`<span class="badge">${say("This browser")}</span>`
              : html`<form method="post" action="${way(path)}">${tokenInput(formToken)}${hidden("session", sessionId)}
<button type="submit" class="danger" aria-label="${say("End session: {browser}", { browser })}">${
                say("End")
              }</button></form>`
          }</div>
<p>${say("Signed in on {day}, last used on {lastDay}", { day: day(createdAt), lastDay: day(seenAt) })}${
            ip === undefined ? "" : html` · <bdi>${ip}</bdi>`
          }</p></li>`
        })
      }</ul>
<p class="soft">${
        pieces("Do you not recognize a session? End it and <link>change your password</link>.", {
          link: linkTo(way(accountPath))
        })
      }</p>`
    })
  })

  const end = frame.submitted((member, given) =>
    Effect.as(sessions.endById(member.session.accountId, given.get("session") ?? ""), redirect(path))
  )

  return Layer.mergeAll(HttpRouter.add("GET", path, frame.show(view)), HttpRouter.add("POST", path, end))
})

/** Browser sessions of a member, each of which can be ended. */
export const layer = Layer.unwrap(make)
