import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { html } from "../../html/Html.ts"
import { redirect, respond } from "../../html/HtmlPage.ts"
import { homePath, signInPath, welcomePath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import { nextSteps } from "./NextSteps.ts"

const make = Effect.gen(function*() {
  const { localDomain, publicUrl } = yield* ServerConfig
  const visitors = yield* Visitors

  const welcome = Effect.map(visitors.current, (visitor) => {
    const { remember, server, session, way, words } = visitor
    if (session === undefined) return redirect(`${signInPath}?${new URLSearchParams([["return_to", welcomePath]])}`)
    const { pieces, say } = words
    return remember(respond({
      words,
      title: say("Welcome, {name}!", { name: session.username }),
      server,
      body: html`<p class="done" role="status">${say("You are signed in.")}</p>
<p>${say("Three things to do next:")}</p>
${nextSteps(visitor)}
<p>${
        pieces("Handles here end in {ending}. Any Mastodon app works with {address}.", {
          ending: html`<strong><bdi>@${localDomain}</bdi></strong>`,
          address: html`<strong>${publicUrl}</strong>`
        })
      }</p>
<p><a class="button" href="${way(homePath)}">${say("Next")}</a></p>`
    }))
  })

  return HttpRouter.add("GET", welcomePath, welcome)
})

/** First page of a new owner. */
export const layer = Layer.unwrap(make)
