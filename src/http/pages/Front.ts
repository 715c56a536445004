import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { sanitise } from "../../services/html/Sanitise.ts"
import { Instance, type RuleRecord } from "../../services/instance/Instance.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { softwareVersion } from "../../services/instance/Software.ts"
import { docsPath } from "./ApiDocs.ts"
import { type Html, html, raw } from "./Html.ts"
import { iconPath } from "./Pictures.ts"
import { count } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"
import { signInPath } from "./SignIn.ts"

const registrations = {
  open: "Everybody may join: sign up in an app for Mastodon with this server's address.",
  approval: "You may ask to join: sign up in an app for Mastodon with this server's address. A moderator then decides.",
  closed: "This server does not take new members at the moment."
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const instance = yield* Instance
  const pages = yield* PublicPages

  const front = Effect.gen(function*() {
    const { shortDescription, title } = yield* instance.about
    const { activeMonth, statuses, users } = yield* instance.usage
    return pages.respond({
      title,
      body: html`
<p class="row"><img src="${iconPath(96)}" alt="" width="64" height="64">
<span class="soft">${count(users, "person", "people")}, ${activeMonth} of them here this month, with ${
        count(statuses, "post", "posts")
      }</span></p>
${shortDescription === "" ? "" : html`<p dir="auto">${shortDescription}</p>`}
<p>${registrations[config.registrations]}</p>
<p>Handles here end in <strong>@${config.localDomain}</strong>. Any app for Mastodon works with
<strong>${config.publicUrl}</strong>.</p>
${rulesOf(yield* instance.rules)}
<ul class="plain">
<li><a href="${signInPath}">Sign in</a> to see which apps may use your account</li>
<li><a href="/about">About this server</a></li>
<li><a href="${docsPath}">The API</a> for people who write apps</li>
<li>${
        config.sourceUrl === undefined
          ? `Murmuration ${softwareVersion}`
          : html`<a href="${config.sourceUrl}" rel="noopener">Murmuration ${softwareVersion}</a>`
      }, free software</li>
</ul>`
    })
  })

  const about = Effect.gen(function*() {
    const { contactEmail, contactUsername, extendedDescription, shortDescription, termsOfService, title } =
      yield* instance
        .about
    return pages.respond({
      title: `About ${title}`,
      body: html`
${
        extendedDescription === null
          ? html`<p dir="auto">${shortDescription || "Nothing has been written about this server yet."}</p>`
          : html`<div class="content" dir="auto">${raw(sanitise(extendedDescription.html))}</div>`
      }
${contactEmail === "" ? "" : html`<p>Write to <a href="mailto:${contactEmail}">${contactEmail}</a>.</p>`}
${
        contactUsername === null
          ? ""
          : html`<p>Ask <a href="/@${contactUsername}">@${contactUsername}</a> about this server.</p>`
      }
${rulesOf(yield* instance.rules)}
<p><a href="/privacy-policy">Privacy policy</a>${
        termsOfService === null ? "" : html` · <a href="/terms-of-service">Terms of service</a>`
      }</p>`
    })
  })

  const privacy = Effect.map(instance.about, ({ privacyPolicy }) =>
    pages.respond({
      title: "Privacy policy",
      body: privacyPolicy === null
        ? html`<p class="soft">The operator of this server has not written one yet.</p>`
        : html`<div class="content" dir="auto">${raw(sanitise(privacyPolicy.html))}</div>`
    }))

  const terms = Effect.map(
    instance.about,
    ({ termsOfService }) =>
      termsOfService === null ? pages.notFound : pages.respond({
        title: "Terms of service",
        body: html`<p class="soft">From ${termsOfService.since}</p>
<div class="content" dir="auto">${raw(sanitise(termsOfService.html))}</div>`
      })
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", "/terms-of-service", terms),
    HttpRouter.add("GET", "/", front),
    HttpRouter.add("GET", "/about", about),
    HttpRouter.add("GET", "/privacy-policy", privacy)
  )
})

const rulesOf = (rules: ReadonlyArray<RuleRecord>): Html =>
  rules.length === 0 ?
    html`` :
    html`<h2>Rules</h2><ol>${
      rules.map(({ hint, text }) =>
        html`<li dir="auto">${text}${hint === "" ? "" : html`<br><span class="soft">${hint}</span>`}</li>`
      )
    }</ol>`

/** The front page and what the server says about itself; these stay open in restricted mode. */
export const layer = Layer.unwrap(make)
