import { Effect, Layer } from "effect"
import { Emojis } from "../../../services/media/Emojis.ts"
import type { MediaRefused } from "../../../services/media/MediaTools.ts"
import { Storage } from "../../../services/media/Storage.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { Unavailable, validationFailed } from "../../../services/runtime/Errors.ts"
import { tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { ticketOf } from "../../html/UploadedFile.ts"
import { button, checkbox, textField } from "./parts/Controls.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"

const listPath = "/admin/custom_emojis"

const refused = {
  MediaRefused: ({ text }: MediaRefused) => validationFailed(`Image ${text}`),
  MediaToolFailed: () => validationFailed("Image is invalid"),
  StorageFailed: () => new Unavailable()
}

const make = Effect.gen(function*() {
  const emojis = yield* Emojis
  const staff = yield* StaffPages
  const storage = yield* Storage
  const uploads = yield* Uploads

  return staff.page({
    path: "/admin/custom_emojis/new",
    permission: "manageCustomEmojis",
    show: (visit) => {
      const { words: { say } } = visit
      return Effect.succeed({
        title: say("New emoji"),
        body: html`${
          section(
            say("New emoji"),
            html`<form method="post" action="${visit.pathAndQuery}" enctype="multipart/form-data">${
              tokenInput(visit.formToken)
            }${
              textField(visit, {
                name: "shortcode",
                label: say("Shortcode"),
                hint: say("Letters, digits and underscores, at least two. Written between colons in posts."),
                max: 128,
                required: true
              })
            }${textField(visit, { name: "category", label: say("Category"), max: 100 })}<label>${
              say("Picture")
            }<span class="hint">${
              say("PNG, GIF or WebP, up to 256 KB.")
            }</span><input type="file" name="image" accept="image/png,image/gif,image/webp" required></label>${
              checkbox(visit, { name: "listed", label: say("Show in the emoji picker"), checked: true })
            }${button("create", say("Add emoji"), "main")}</form>`
          )
        }<p><a href="${listPath}">${say("Custom emoji")}</a></p>`
      })
    },
    acts: {
      create: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const ticket = yield* ticketOf("image")
          const upload = ticket === undefined ? undefined : uploads.find(ticket)
          if (upload === undefined || upload.bytes === 0) return yield* validationFailed("Image can't be blank")
          const { type } = upload
          if (type === undefined) return yield* validationFailed("Image content type is invalid")
          const emoji = {
            shortcode: sent.get("shortcode")?.trim().replaceAll(":", "") ?? "",
            category: sent.get("category")?.trim() || null,
            listed: sent.get("listed") === "yes"
          }
          const id = yield* Effect.scoped(
            Effect.flatMap(storage.local(upload.name), (path) => emojis.add(by, emoji, { path, type }))
          ).pipe(Effect.catchTags(refused))
          return {
            notice: words.say("The emoji {name} was added.", { name: `:${emoji.shortcode}:` }),
            to: listPath,
            undo: { path: listPath, act: "remove", fields: { ids: String(id) } }
          }
        })
      }
    }
  })
})

/** Form for a new custom emoji. */
export const layer = Layer.unwrap(make)
