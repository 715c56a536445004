import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { EmojiArchives } from "../../../services/media/EmojiArchives.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { ticketOf } from "../../html/UploadedFile.ts"
import { button } from "./parts/Controls.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"

const listPath = "/admin/custom_emojis"
/** Maximum failed emoji whose reason is shown. */
const refusalsShownMax = 5

const make = Effect.gen(function*() {
  const archives = yield* EmojiArchives
  const staff = yield* StaffPages
  const uploads = yield* Uploads

  const page = staff.page({
    path: "/admin/custom_emojis/archive",
    permission: "manageCustomEmojis",
    show: (visit) => {
      const { words: { say } } = visit
      return Effect.succeed({
        title: say("Emoji archive"),
        body: html`${
          section(
            say("Export"),
            html`<p class="soft">${
              say("A zip file with the images and a list of them, in the format of other servers.")
            }</p><p><a href="${listPath}/export.zip" download>${say("Download archive")}</a></p><p class="soft">${
              say("A tar.gz file with the images only, for Mastodon's command line.")
            }</p><p><a href="${listPath}/export.tar.gz" download>${say("Download the tar.gz")}</a></p>`
          )
        }${
          section(
            say("Import"),
            html`<form method="post" action="${visit.pathAndQuery}" enctype="multipart/form-data">${
              tokenInput(visit.formToken)
            }<label>${say("Archive")}<span class="hint">${
              say("A zip or tar.gz file, up to 16 MB. Existing shortcodes are skipped.")
            }</span><input type="file" name="file" accept=".zip,.gz,.tgz,application/zip,application/gzip" required></label>${
              button("import", say("Add emoji"), "main")
            }</form>`
          )
        }<p><a href="${listPath}">${say("Custom emoji")}</a></p>`
      })
    },
    acts: {
      import: {
        run: Effect.fnUntraced(function*({ by, words }) {
          const ticket = yield* ticketOf("file")
          const upload = ticket === undefined ? undefined : uploads.find(ticket)
          if (upload === undefined || upload.bytes === 0) return yield* validationFailed("File can't be blank")
          const { added, refused } = yield* archives.read(by, upload.name)
          const refusals = refused.slice(0, refusalsShownMax).map(({ reason, shortcode }) =>
            words.say("Not {name}: {reason}", { name: `:${shortcode}:`, reason: words.translate(reason) })
          )
          return {
            notice: [
              words.say("{added, plural, one {# emoji was} other {# emoji were}} added, {refused} skipped.", {
                added,
                refused: refused.length
              }),
              ...refusals
            ].join(" "),
            to: listPath
          }
        })
      }
    }
  })
  const download = (bytes: Uint8Array, form: "zip" | "tar.gz") =>
    HttpServerResponse.uint8Array(bytes, {
      contentType: form === "zip" ? "application/zip" : "application/gzip",
      headers: {
        "content-disposition": `attachment; filename="emoji.${form}"`,
        "cache-control": "private, no-store",
        "x-content-type-options": "nosniff"
      }
    })
  const zip = staff.file({
    path: "/admin/custom_emojis/export.zip",
    permission: "manageCustomEmojis",
    makeResponse: ({ by }) => Effect.map(archives.write(by, "zip"), (bytes) => download(bytes, "zip"))
  })
  const tarball = staff.file({
    path: "/admin/custom_emojis/export.tar.gz",
    permission: "manageCustomEmojis",
    makeResponse: ({ by }) => Effect.map(archives.write(by, "tar.gz"), (bytes) => download(bytes, "tar.gz"))
  })
  return Layer.mergeAll(page, zip, tarball)
})

/** Export and import of emoji archives. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(EmojiArchives.layer))
