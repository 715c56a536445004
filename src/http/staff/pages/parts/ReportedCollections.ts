import { Context, Effect, Layer } from "effect"
import { plainText } from "../../../../services/html/PlainText.ts"
import { KeptCollections } from "../../../../services/moderation/KeptCollections.ts"
import { reportCollectionsMax } from "../../../../services/moderation/Reports.ts"
import { bounded } from "../../../../services/text/BoundedText.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import { AccountLines } from "./AccountLines.ts"
import { rowCheckboxFor } from "./Tables.ts"
import { badge, moment } from "./Texts.ts"

/** Form field with the chosen collections. */
export const collectionsField = "collections"

/** Collections as moderators see them: texts and members. */
export class ReportedCollections extends Context.Service<ReportedCollections, {
  /** Shows collections, with checkboxes if `chosen`; deleted ones are marked as deleted. */
  readonly show: (visit: Visit, ids: ReadonlyArray<bigint>, chosen: boolean) => Effect.Effect<Html>
}>()("murmuration/http/staff/pages/parts/ReportedCollections") {
  static readonly layer = Layer.effect(
    ReportedCollections,
    Effect.gen(function*() {
      const keptCollections = yield* KeptCollections
      const people = yield* AccountLines
      return ReportedCollections.of({
        show: Effect.fnUntraced(function*({ words: { say }, words }, ids, chosen) {
          const shown = ids.slice(0, reportCollectionsMax)
          const records = yield* keptCollections.load(shown)
          const names = yield* people.load(records.flatMap(({ items }) => items.map(({ accountId }) => accountId)))
          const missingCount = shown.length - records.length
          return html`${
            records.map((record) => {
              const members = record.items.filter(({ accountId }) => names.find(accountId) !== undefined)
              const text = html`<strong dir="auto">${record.name}</strong><p class="said" dir="auto">${
                record.local ? record.description : plainText(bounded(record.description))
              }</p><ul class="files">${
                members.map(({ accountId }) => html`<li>${names.line(accountId)}</li>`)
              }</ul><p class="row soft">${moment(words, record.createdAt)} ${
                record.sensitive ? badge(say("Sensitive"), "warn") : ""
              } ${record.gone ? badge(say("Deleted"), "warn") : ""}</p>`
              return html`<article class="post">${
                chosen && !record.gone
                  ? html`<div class="row top">${
                    rowCheckboxFor(collectionsField, record.id, say("Select this collection"))
                  }<div class="grow">${text}</div></div>`
                  : text
              }</article>`
            })
          }${missingCount === 0 ? "" : html`<p class="soft">${say("This collection is gone.")}</p>`}`
        })
      })
    })
  ).pipe(Layer.provide(KeptCollections.layer))
}
