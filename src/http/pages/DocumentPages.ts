import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { sanitise } from "../../services/html/Sanitise.ts"
import type { DocumentKind } from "../../services/instance/Documents.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { InstanceDocuments } from "../../services/instance/InstanceDocuments.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { html, raw } from "../html/Html.ts"
import { privacyPath, termsPath } from "../html/PagePaths.ts"
import { PublicPages } from "./PublicPages.ts"

interface Shown {
  readonly path: `/${string}`
  readonly kind: DocumentKind
  readonly title: (words: Messages) => string
}

const privacy: Shown = {
  path: privacyPath,
  kind: "privacy_policy",
  title: ({ say }) => say("Privacy policy")
}
const terms: Shown = { path: termsPath, kind: "terms_of_service", title: ({ say }) => say("Terms of service") }

const make = Effect.gen(function*() {
  const documents = yield* InstanceDocuments
  const instance = yield* Instance
  const pages = yield* PublicPages

  /** Shows the version of a day, or the current one, and the days of the others. */
  const show = Effect.fnUntraced(function*({ kind, path, title }: Shown, day?: string) {
    const { way, words } = yield* pages.reader
    const { pieces, say } = words
    const dayOf = (text: string) => words.day(new Date(text))
    const found = yield* instance.document(kind, day)
    if (found === null) {
      return day !== undefined || kind === "terms_of_service"
        ? yield* pages.notFound
        : yield* pages.respond({
          words,
          title: title(words),
          body: html`<p class="soft">${say("The operator of this server has not published one yet.")}</p>`
        })
    }
    const others = (yield* documents.days(kind)).filter((other) => other !== found.since)
    return yield* pages.respond({
      words,
      title: title(words),
      body: html`<p class="soft">${say("Effective {day}", { day: dayOf(found.since) })}${
        found.succeededBy === null ? "" : html` · ${
          pieces("Replaced on <link>{day}</link>", {
            day: dayOf(found.succeededBy),
            link: (inner) => html`<a href="${way(`${path}/${found.succeededBy}`)}">${inner}</a>`
          })
        }`
      }</p>
<div class="content" dir="auto">${raw(sanitise(bounded(found.html)))}</div>
${
        others.length === 0 ?
          "" :
          html`<h2>${say("Other versions")}</h2><ul>${
            others.map((other) => html`<li><a href="${way(`${path}/${other}`)}">${dayOf(other)}</a></li>`)
          }</ul>`
      }`
    })
  })

  const routes = (shown: Shown) =>
    Layer.mergeAll(
      HttpRouter.add("GET", shown.path, show(shown)),
      HttpRouter.add("GET", `${shown.path}/:day`, Effect.flatMap(HttpRouter.params, ({ day }) => show(shown, day)))
    )
  return Layer.mergeAll(routes(privacy), routes(terms))
})

/** Privacy policy and terms of service, in all their versions; open in restricted mode, too. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(InstanceDocuments.layer))
