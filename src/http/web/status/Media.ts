import type { Messages } from "../../../services/languages/Messages.ts"
import { type Html, html } from "../../html/Html.ts"
import type { ShownStatus } from "./Text.ts"

type File = ShownStatus["mediaAttachments"][number]

/** Renders a file of a status; `place` is its position. */
const one = ({ say }: Messages, file: File, place: { readonly place: number; readonly count: number }): Html => {
  const address = file.url ?? file.remoteUrl
  if (address === null) return html``
  const text = file.description ?? ""
  const named = (without: string) => text === "" ? without : text
  const poster = file.previewUrl === null ? "" : html` poster="${file.previewUrl}"`
  switch (file.type) {
    case "image":
      return html`<a class="file" href="${address}"${
        text === "" ? html` aria-label="${say("Image {place} of {count}, no description", place)}"` : ""
      }><img src="${file.previewUrl ?? address}" alt="${text}" loading="lazy"></a>`
    case "gifv":
      return html`<video src="${address}"${poster} aria-label="${
        named(say("Animation {place} of {count}, no description", place))
      }" controls loop muted playsinline preload="none"></video>`
    case "video":
      return html`<video src="${address}"${poster} aria-label="${
        named(say("Video {place} of {count}, no description", place))
      }" controls preload="none"></video>`
    case "audio":
      return html`<audio src="${address}" aria-label="${
        named(say("Audio {place} of {count}, no description", place))
      }" controls preload="none"></audio>`
    case "unknown":
      return html`<a href="${address}">${named(say("File"))}</a>`
  }
}

/** Renders the files of a status; sensitive ones without a content warning are collapsed. */
export const mediaOf = (
  words: Messages,
  { mediaAttachments: files, sensitive, spoilerText }: Pick<
    ShownStatus,
    "mediaAttachments" | "sensitive" | "spoilerText"
  >
): Html => {
  if (files.length === 0) return html``
  const all = html`<div class="files files-${Math.min(files.length, 4)}">${
    files.map((file, index) => one(words, file, { place: index + 1, count: files.length }))
  }</div>`
  return sensitive && spoilerText === ""
    ? html`<details class="hidden-files"><summary>${words.say("Sensitive content")}</summary>${all}</details>`
    : all
}
