import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { EmailChoices } from "../../services/emails/EmailChoices.ts"
import type { EmailList } from "../../services/emails/EmailLists.ts"
import { endEmailsPath, UnsubscribeLinks } from "../../services/emails/UnsubscribeLinks.ts"
import { isSubmission } from "../html/FormResponses.ts"
import { hidden, parameters } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import { linkTo, respond, seeOther } from "../html/HtmlPage.ts"
import { emailSettingsPath } from "../html/PagePaths.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"

type Words = PageReader["words"]

const subjects: Readonly<Record<EmailList, (words: Words) => string>> = {
  notifications: ({ say }) => say("You receive emails about new notifications while you are away."),
  "sign_ups": ({ say }) => say("You receive emails about sign-ups that need approval."),
  appeals: ({ say }) => say("You receive emails about appeals against moderation decisions."),
  trends: ({ say }) => say("You receive emails about hashtags that need review.")
}

const make = Effect.gen(function*() {
  const choices = yield* EmailChoices
  const links = yield* UnsubscribeLinks
  const visitors = yield* Visitors

  const page = (title: (words: Words) => string, body: (reader: PageReader) => Html, status = 200) =>
    Effect.map(visitors.reader, (reader) => {
      const { server, words } = reader
      return respond({ words, title: title(words), server, status, body: body(reader) })
    })
  const invalid = page(
    ({ say }) => say("This link is no longer valid"),
    ({ way, words }) =>
      html`<p>${
        words.pieces("This server did not issue this link. Choose your emails in the <link>settings</link>.", {
          link: linkTo(way(emailSettingsPath))
        })
      }</p>`,
    404
  )
  const given = Effect.map(parameters, (fields) => fields.get("token") ?? "")

  const ended = page(
    ({ say }) => say("You are unsubscribed"),
    ({ way, words }) =>
      html`<p class="done" role="status">${
        words.pieces("You will not receive these emails any more. Choose your emails in the <link>settings</link>.", {
          link: linkTo(way(emailSettingsPath))
        })
      }</p>`
  )

  // Opening the link ends nothing, because mail programs open links to check them.
  const ask = Effect.gen(function*() {
    const token = yield* given
    const asked = links.read(token)
    if (asked === undefined) return yield* invalid
    if (yield* choices.isEnded(asked.account, asked.list)) return yield* ended
    return yield* page(({ say }) => say("Unsubscribe?"), ({ way, words }) =>
      html`<p>${subjects[asked.list](words)}</p>
<form method="post" action="${way(endEmailsPath)}">
${hidden("token", token)}
<p class="row"><button type="submit">${words.say("Unsubscribe")}</button></p>
</form>`)
  })

  // Mail programs send this themselves (RFC 8058): the link alone is the authorization, without a cookie.
  const end = Effect.gen(function*() {
    const token = yield* given
    const asked = links.read(token)
    if (asked === undefined) return yield* invalid
    yield* choices.end(asked.account, asked.list)
    if (!isSubmission(yield* HttpServerRequest.HttpServerRequest)) return yield* ended
    const { way } = yield* visitors.reader
    return seeOther(way(`${endEmailsPath}?${new URLSearchParams({ token })}`))
  })

  return Layer.merge(
    HttpRouter.add("GET", endEmailsPath, ask),
    HttpRouter.add("POST", endEmailsPath, end)
  )
})

/** Ends e-mails to a user by the link in them. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(UnsubscribeLinks.layer))
