import { Option, Schema } from "effect"
import { mediaAttachmentsMax, mediaDescriptionCharactersMax } from "../../../services/instance/ContentLimits.ts"
import type { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { MediaRecord } from "../../../services/media/MediaRecord.ts"
import { type Html, html } from "../../html/Html.ts"
import { mediaValues } from "../../render/MediaValues.ts"
import type { Values } from "../../wire/Keys.ts"
import type { MediaAttachment } from "../../wire/MediaAttachment.ts"
import { focalPoint } from "../shell/FocalPoint.ts"
import { icon } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ComposedFile } from "./Composition.ts"

/** A file as the composer shows it. */
export interface ShownFile extends ComposedFile {
  readonly media: Values<MediaAttachment>
  readonly isReady: boolean
}

const pointOf = Schema.decodeUnknownOption(Schema.Struct({ x: Schema.Number, y: Schema.Number }))

/** Returns a file of a post as the composer shows it, with the texts that it has. */
export const shownFile = (media: Values<MediaAttachment>, file: ComposedFile["id"], isReady: boolean): ShownFile => ({
  id: file,
  description: media.description ?? "",
  focus: Option.match(pointOf(media.meta?.focus), { onNone: () => "", onSome: ({ x, y }) => `${x},${y}` }),
  media,
  isReady
})

/** Returns an uploaded file as the composer shows it. */
export const uploadedFile = (config: ServerConfig["Service"], record: MediaRecord, id: ComposedFile["id"]): ShownFile =>
  shownFile(mediaValues(config, record), id, record.state === "ready")

/** Renders the fields of one file: preview, description, focal point, and a button that removes it. */
export const fileField = (visit: Visit, file: ShownFile): Html => {
  const { say } = visit.reader.words
  const { description, focus, id, isReady, media } = file
  return html`<li class="composed-file" data-file="${id}"${
    isReady ? "" : html` data-waiting`
  }><input type="hidden" name="files[]" value="${id}"><div class="thumb">${
    media.previewUrl === null || !isReady
      ? html`<p class="soft">${isReady ? say("File") : say("This file is still being processed.")}</p>`
      : html`<img src="${media.previewUrl}" alt="">`
  }</div><div class="texts"><label>${
    say("Description for people who cannot see it")
  }<textarea name="description_${id}" rows="2" maxlength="${mediaDescriptionCharactersMax}">${description}</textarea></label>${
    media.type === "image" ? focalPoint(visit, `focus_${id}`, say("Focal point"), focus) : ""
  }<button type="submit" name="act" value="remove_file_${id}" class="plain">${icon("cross")}${
    say("Remove file")
  }</button></div></li>`
}

/** Renders the files of a post, and the field that adds one. */
export const fileFields = (visit: Visit, files: ReadonlyArray<ShownFile>, sensitive: boolean): Html => {
  const { say } = visit.reader.words
  return html`<fieldset class="composed-files"><legend>${say("Files")}</legend><ul>${
    files.map((file) => fileField(visit, file))
  }</ul><p class="row add"${files.length >= mediaAttachmentsMax ? html` hidden` : ""}><label>${
    say("Add a picture, video or audio file")
  }<input type="file" name="file"></label><button type="submit" name="act" value="add_file" class="plain">${
    say("Add file")
  }</button></p><div class="uploads" role="status"></div><p class="check"><label><input type="checkbox" name="sensitive" value="1"${
    sensitive ? html` checked` : ""
  }> ${say("Mark files as sensitive")}</label></p></fieldset>`
}
