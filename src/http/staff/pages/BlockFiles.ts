import { Effect, Layer } from "effect"
import { BlockImports } from "../../../services/lists/BlockImports.ts"
import * as Reply from "../../guard/Reply.ts"
import { html } from "../../html/Html.ts"
import { button, form, textArea } from "./parts/Controls.ts"
import { severityNames } from "./parts/DomainBlockForm.ts"
import { emptyList, table } from "./parts/Tables.ts"
import { badge, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

const path = "/admin/domain_block_files"
/** Maximum rows of a preview; beyond it only their number is shown. */
const previewRowsMax = 200

const make = Effect.gen(function*() {
  const files = yield* BlockImports
  const staff = yield* StaffPages

  const preview = Effect.fnUntraced(function*({ form: sent, words }: Visit) {
    const { say } = words
    const { entries, skipped } = yield* files.preview(sent.get("data") ?? "")
    const fresh = entries.filter(({ known }) => !known)
    return html`<p>${
      say(
        "{fresh, plural, one {# server} other {# servers}} will be blocked. {known, plural, one {# is} other {# are}} already on the list and {known, plural, one {stays} other {stay}} unchanged; {skipped, plural, one {# row} other {# rows}} cannot be imported.",
        { fresh: fresh.length, known: entries.length - fresh.length, skipped }
      )
    }</p>${
      fresh.length === 0 ? emptyList(say("Nothing to do.")) : table(
        [say("Server"), say("State"), say("Public comment")],
        fresh.slice(0, previewRowsMax).map(({ domain, publicComment, rejectMedia, severity }) => [
          domain,
          html`${badge(severityNames[severity](words), severity === "suspend" ? "bad" : "warn")}${
            rejectMedia ? html` ${badge(say("Reject media"))}` : ""
          }`,
          html`<bdi>${publicComment ?? ""}</bdi>`
        ]),
        say("Preview")
      )
    }${
      fresh.length > previewRowsMax
        ? html`<p class="soft">${
          say("{count, plural, one {# more server is} other {# more servers are}} not shown.", {
            count: fresh.length - previewRowsMax
          })
        }</p>`
        : ""
    }<p>${say("Follows between people here and on blocked servers are removed permanently.")}</p>`
  })

  const page = staff.page({
    path: "/admin/domain_block_files",
    permission: "manageFederation",
    show: (visit) => {
      const { words: { say } } = visit
      return Effect.succeed({
        title: say("Export of blocked servers"),
        body: html`${
          section(
            say("Export"),
            html`<p class="soft">${
              say("A CSV file in the common format, with the public comment of each block.")
            }</p><p><a href="${path}/export.csv" download>${say("Download list")}</a></p>`
          )
        }${
          section(
            say("Import"),
            form(
              visit,
              html`${
                textArea(visit, {
                  name: "data",
                  label: say("CSV"),
                  hint: say(
                    "With a header row (#domain,#severity …), or one domain per line."
                  ),
                  rows: 12,
                  required: true
                })
              }<p class="soft">${say("You see a preview before anything changes.")}</p>${
                button("import", say("Preview import"), "main")
              }`
            )
          )
        }<p><a href="/admin/domain_blocks">${say("Blocked servers")}</a></p>`
      })
    },
    acts: {
      import: {
        confirm: (visit) =>
          Effect.map(preview(visit), (text) => ({
            title: visit.words.say("Import these blocks?"),
            text,
            button: visit.words.say("Block these servers"),
            danger: true
          })),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const blocks = yield* files.run(by, sent.get("data") ?? "")
          return {
            notice: words.say("{count, plural, one {# server was} other {# servers were}} blocked.", {
              count: blocks.length
            }),
            to: "/admin/domain_blocks"
          }
        })
      }
    }
  })
  const file = staff.file({
    path: "/admin/domain_block_files/export.csv",
    permission: "manageFederation",
    makeResponse: () =>
      Effect.map(files.write, (text) => Reply.file(text, "text/csv; charset=utf-8", "domain_blocks.csv"))
  })
  return Layer.merge(page, file)
})

/** Export and import of domain blocks as files, with a preview before the import. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(BlockImports.layer))
