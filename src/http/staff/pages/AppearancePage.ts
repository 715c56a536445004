import { Effect, Layer } from "effect"
import { instanceThumbnailDescriptionCharactersMax } from "../../../services/instance/ContentLimits.ts"
import { type About, Instance } from "../../../services/instance/Instance.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import {
  appIconEdges,
  type InstancePictureKind,
  instancePictureKinds
} from "../../../services/instance/PictureSettings.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { InstanceUploads } from "../../../services/media/InstanceUploads.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { faviconPath, iconPath, thumbnailPath } from "../../html/PagePaths.ts"
import { palette } from "../../html/Palette.ts"
import { ticketOf } from "../../html/UploadedFile.ts"
import { instancePictureFiles } from "../../render/InstancePictureFiles.ts"
import { actButton, button, form, textField } from "./parts/Controls.ts"
import { swatches } from "./parts/Swatches.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

const usual = palette.light.accent

interface Picture {
  readonly title: (words: Messages) => string
  readonly hint: (words: Messages) => string
  /** Path of the default picture, and the size at which this page shows it. */
  readonly own: string
  readonly size: readonly [width: number, height: number]
}

const largest = Math.max(...appIconEdges)
const pictures: Readonly<Record<InstancePictureKind, Picture>> = {
  thumbnail: {
    title: ({ say }) => say("Thumbnail"),
    hint: ({ say }) =>
      say("Shown by apps and other sites with the server name. 2400x1260 pixels recommended; PNG, JPEG or WebP."),
    own: thumbnailPath,
    size: [320, 168]
  },
  appIcon: {
    title: ({ say }) => say("Server icon"),
    hint: ({ say }) => say("For apps and home screens. A square of at least 512x512 pixels; PNG or WebP."),
    own: iconPath(largest),
    size: [96, 96]
  },
  favicon: {
    title: ({ say }) => say("Favicon"),
    hint: ({ say }) => say("A square of at least 48x48 pixels, recognizable at small sizes; PNG or WebP."),
    own: faviconPath(48),
    size: [48, 48]
  }
}

const kindOf = ({ form: sent }: Visit) => {
  const kind = instancePictureKinds.find((one) => one === sent.get("kind"))
  return kind === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(kind)
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const instance = yield* Instance
  const settings = yield* InstanceSettings
  const instanceUploads = yield* InstanceUploads
  const staff = yield* StaffPages
  const uploads = yield* Uploads

  const pictureForm = (visit: Visit, about: About, kind: InstancePictureKind): Html => {
    const { words: { say }, words } = visit
    const { hint, own, size: [width, height], title } = pictures[kind]
    const { description, versions } = instancePictureFiles(config, about, kind)
    const url = versions[0]?.[1]
    return section(
      title(words),
      html`<p class="soft">${hint(words)}</p><p class="row"><img class="preview" src="${
        url ?? own
      }" width="${width}" height="${height}" alt="${description || title(words)}">${
        url === undefined ? html`<span class="soft">${say("Default")}</span>` : ""
      }</p>
<form method="post" action="${visit.pathAndQuery}" enctype="multipart/form-data">${tokenInput(visit.formToken)}${
        hidden("kind", kind)
      }<label>${say("Picture")}<span class="hint">${
        say("Up to 8 MB. The image is resized, and its metadata is removed.")
      }</span><input type="file" name="file" accept="image/png,image/jpeg,image/webp,image/avif" required></label>${
        kind === "thumbnail"
          ? textField(visit, {
            name: "description",
            label: say("Image description"),
            hint: say("For people who cannot see the image."),
            value: description,
            max: instanceThumbnailDescriptionCharactersMax
          })
          : ""
      }${button("upload", say("Use this image"), "main")}</form>${
        url === undefined
          ? ""
          : actButton(visit, "remove", say("Reset to default"), { kind: "danger", fields: { kind } })
      }`
    )
  }

  const colorForm = (visit: Visit, { accentColor }: About): Html => {
    const { words: { say } } = visit
    return section(
      say("Color"),
      html`<p class="soft">${say("Used for links, buttons and highlights on every page of this server.")}</p>${
        swatches(visit.words, accentColor)
      }${
        form(
          visit,
          html`${
            textField(visit, {
              name: "accent_color",
              type: "color",
              label: say("Accent color"),
              hint: say("Shown darker in light mode and lighter in dark mode where needed for contrast."),
              value: accentColor ?? usual
            })
          }${button("color", say("Use this color"), "main")}`
        )
      }${accentColor === null ? "" : actButton(visit, "uncolor", say("Reset to the default color"))}`
    )
  }

  return staff.page({
    path: "/admin/settings/appearance",
    permission: "manageSettings",
    show: Effect.fnUntraced(function*(visit) {
      const { say } = visit.words
      const about = yield* instance.about
      return {
        title: say("Images and color"),
        body: html`<p><a href="/admin/settings">${say("Server settings")}</a></p><div class="columns">${
          colorForm(visit, about)
        }${instancePictureKinds.map((kind) => pictureForm(visit, about, kind))}</div>`
      }
    }),
    acts: {
      color: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const before = (yield* instance.about).accentColor
          yield* settings.change(by, { accentColor: sent.get("accent_color") ?? "" })
          return {
            notice: words.say("The color was saved."),
            undo: before === null
              ? { path: "/admin/settings/appearance", act: "uncolor" }
              : { path: "/admin/settings/appearance", act: "color", fields: { ["accent_color"]: before } }
          }
        })
      },
      uncolor: {
        run: Effect.fnUntraced(function*({ by, words }) {
          yield* settings.change(by, { accentColor: "" })
          return { notice: words.say("The color was reset.") }
        })
      },
      upload: {
        run: Effect.fnUntraced(function*(visit) {
          const kind = yield* kindOf(visit)
          const ticket = yield* ticketOf("file")
          const upload = ticket === undefined ? undefined : uploads.find(ticket)
          yield* instanceUploads.receive(visit.by, kind, upload, visit.form.get("description") ?? "")
          return {
            notice: visit.words.say("The image was saved. Browsers may show the old one for up to an hour."),
            to: visit.path
          }
        })
      },
      remove: {
        confirm: (visit) =>
          Effect.map(kindOf(visit), (kind) => ({
            title: pictures[kind].title(visit.words),
            text: visit.words.say(
              "The image is deleted and the default is shown instead. To restore it, upload it again."
            ),
            button: visit.words.say("Delete image"),
            danger: true
          })),
        run: Effect.fnUntraced(function*(visit) {
          yield* instanceUploads.remove(visit.by, yield* kindOf(visit))
          return { notice: visit.words.say("The default image was restored."), to: visit.path }
        })
      }
    }
  })
})

/** Pictures and accent colour of the site. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(InstanceSettings.layer))
