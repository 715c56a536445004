import { Effect, Layer } from "effect"
import type { DocumentKind } from "../../../services/instance/Documents.ts"
import { InstanceDocuments } from "../../../services/instance/InstanceDocuments.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { type Html, html, raw } from "../../html/Html.ts"
import { button, form, select, textArea, textField } from "./parts/Controls.ts"
import { emptyList } from "./parts/Tables.ts"
import { moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

const make = Effect.gen(function*() {
  const documents = yield* InstanceDocuments
  const settings = yield* InstanceSettings
  const staff = yield* StaffPages

  const versions = (visit: Visit, kind: DocumentKind, title: string) =>
    Effect.map(Effect.orDie(documents.versions(kind)), (all): Html => {
      const { words: { say }, words } = visit
      return section(
        title,
        all.length === 0
          ? emptyList(say("No version yet."))
          : html`${
            all.map(({ effectiveOn, html: text, notice, publishedAt }) =>
              html`<details><summary>${say("Effective from {day}", { day: effectiveOn })} <span class="soft">${
                say("Written:")
              } ${moment(words, publishedAt)}</span></summary>${
                notice === "" ? "" : html`<p class="soft" dir="auto">${notice}</p>`
              }<div class="content" dir="auto">${raw(text)}</div></details>`
            )
          }`
      )
    })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    return {
      title: say("Privacy policy and terms of service"),
      body: html`${
        section(
          say("New version"),
          form(
            visit,
            html`${
              select(visit, {
                name: "kind",
                label: say("Document"),
                choices: [["privacyPolicy", say("Privacy policy")], ["termsOfService", say("Terms of service")]]
              })
            }${
              textArea(visit, {
                name: "text",
                label: say("Text"),
                hint: say("Plain text or HTML. Leave it empty to remove every version of the document."),
                rows: 10
              })
            }${
              textField(visit, {
                name: "since",
                type: "date",
                label: say("Effective date"),
                hint: say("Defaults to today. Replaces a version of the same date.")
              })
            }${
              textArea(visit, { name: "notice", label: say("Changelog"), hint: say("People are notified."), rows: 2 })
            }${button("publish", say("Publish"), "main")}`
          )
        )
      }${yield* versions(visit, "privacy_policy", say("Privacy policy"))}${yield* versions(
        visit,
        "terms_of_service",
        say("Terms of service")
      )}<p><a href="/admin/settings">${say("Server settings")}</a></p>`
    }
  })

  return staff.page({
    path: "/admin/settings/documents",
    permission: "manageSettings",
    show,
    acts: {
      publish: {
        confirm: ({ form: sent, words: { say } }) =>
          Effect.succeed({
            title: say("Publish this version?"),
            text: (sent.get("text") ?? "").trim() === ""
              ? say("The text is empty: every version of the document is removed. This cannot be undone.")
              : say("The document becomes public now, with its effective date."),
            button: say("Publish"),
            danger: (sent.get("text") ?? "").trim() === ""
          }),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const kind = (["privacyPolicy", "termsOfService"] as const).find((one) => one === sent.get("kind"))
          if (kind === undefined) return yield* validationFailed("Type is not included in the list")
          const document = {
            text: sent.get("text") ?? "",
            since: sent.get("since")?.trim() || undefined,
            notice: sent.get("notice") || undefined
          }
          yield* settings.change(by, { [kind]: document })
          return { notice: words.say("The document was published.") }
        })
      }
    }
  })
})

/** Versions of the server's documents, such as its terms of service. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([InstanceDocuments.layer, InstanceSettings.layer]))
