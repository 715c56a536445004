import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { sanitise } from "../../services/html/Sanitise.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { InstancePolicies, type Policies } from "../../services/instance/InstancePolicies.ts"
import { Manual } from "../../services/instance/Manual.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { softwareVersion } from "../../services/instance/Software.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { html, raw } from "../html/Html.ts"
import { linkTo, redirect } from "../html/HtmlPage.ts"
import {
  docsPath,
  homePath,
  iconPath,
  manualPath,
  privacyPath,
  signInPath,
  signUpPath,
  termsPath
} from "../html/PagePaths.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"
import { PublicPages } from "./PublicPages.ts"
import { rulesOf } from "./RulesSection.ts"

const registrations = ({ way, words: { pieces, say } }: PageReader, mode: Policies["registrations"]) => {
  const link = { link: linkTo(way(signUpPath)) }
  switch (mode) {
    case "open":
      return pieces("<link>Sign up</link> here, or in any Mastodon app.", link)
    case "approval":
      return pieces("<link>Sign up</link> here, or in any Mastodon app. A moderator reviews each request.", link)
    case "closed":
      return say("This server is not accepting new sign-ups at the moment.")
  }
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const instance = yield* Instance
  const manual = yield* Manual
  const policies = yield* InstancePolicies
  const pages = yield* PublicPages
  const visitors = yield* Visitors

  /** Link to the guides; none if the program was installed without them. */
  const guides = ({ pieces }: Messages) =>
    Effect.map(manual, ({ size }) =>
      size === 0
        ? []
        : [pieces("<link>Guides</link> for members, moderators and operators", { link: linkTo(manualPath) })])

  const front = Effect.gen(function*() {
    const visitor = yield* visitors.current
    const { session, way, words } = visitor
    if (session !== undefined) return redirect(homePath)
    const { pieces, say } = words
    const { description, title } = yield* instance.about
    const { activeMonth, statuses, users } = yield* instance.usage
    const { registrations: mode, registrationsMessage } = yield* policies.current
    const software = `Murmuration ${softwareVersion}`
    return yield* pages.respond({
      words,
      title,
      body: html`
<p class="row"><img src="${iconPath(96)}" alt="" width="64" height="64">
<span class="soft">${
        say(
          "{people, plural, one {# user} other {# users}}, {active, number} active this month, {posts, plural, one {# post} other {# posts}}",
          { people: users, active: activeMonth, posts: statuses }
        )
      }</span></p>
${description === "" ? "" : html`<p dir="auto">${description}</p>`}
<p>${registrations(visitor, mode)}</p>
${
        mode !== "closed" || registrationsMessage === null
          ? ""
          : html`<div class="content" dir="auto">${raw(sanitise(bounded(registrationsMessage.html)))}</div>`
      }
<p>${
        pieces("Handles here end in {ending}. Any Mastodon app works with {address}.", {
          ending: html`<strong><bdi>@${config.localDomain}</bdi></strong>`,
          address: html`<strong>${config.publicUrl}</strong>`
        })
      }</p>
${rulesOf(words, yield* instance.rules)}
<ul class="plain">
<li>${pieces("Already have an account? <link>Sign in</link>", { link: linkTo(way(signInPath)) })}</li>
<li><a href="${way("/about")}">${say("About this server")}</a></li>
${(yield* guides(words)).map((link) => html`<li>${link}</li>`)}
<li>${pieces("<link>API documentation</link> for developers", { link: linkTo(docsPath) })}</li>
<li>${
        pieces("{software} is free software", {
          software: config.sourceUrl === undefined
            ? software
            : html`<a href="${config.sourceUrl}" rel="noopener">${software}</a>`
        })
      }</li>
</ul>`
    })
  })

  const about = Effect.gen(function*() {
    const { way, words } = yield* pages.reader
    const { pieces, say } = words
    const { contactAccount, contactEmail, description, extendedDescription, termsOfService, title } = yield* instance
      .about
    return yield* pages.respond({
      words,
      title: say("About {title}", { title }),
      body: html`
${
        extendedDescription === null
          ? html`<p dir="auto">${description || say("The operator has not described this server yet.")}</p>`
          : html`<div class="content" dir="auto">${raw(sanitise(bounded(extendedDescription.html)))}</div>`
      }
${
        contactEmail === "" ?
          "" :
          html`<p>${
            pieces("Contact: {address}.", { address: html`<a href="mailto:${contactEmail}">${contactEmail}</a>` })
          }</p>`
      }
${
        contactAccount === null
          ? ""
          : html`<p>${
            pieces("Contact {account} about this server.", {
              account: html`<a href="${way(`/@${contactAccount}`)}"><bdi>@${contactAccount}</bdi></a>`
            })
          }</p>`
      }
${rulesOf(words, yield* instance.rules)}
<p><a href="${way(privacyPath)}">${say("Privacy policy")}</a>${
        termsOfService === null ? "" : html` · <a href="${way(termsPath)}">${say("Terms of service")}</a>`
      }</p>
${(yield* guides(words)).map((link) => html`<p>${link}</p>`)}`
    })
  })

  return Layer.mergeAll(
    HttpRouter.add("GET", "/", front),
    HttpRouter.add("GET", "/about", about)
  )
})

/** Front page and information about the server; open in restricted mode, too. */
export const layer = Layer.unwrap(make)
