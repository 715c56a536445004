import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { addressesOf } from "../../services/media/MediaAddresses.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { StatusRecord } from "../../services/statuses/Statuses.ts"
import { type Html, html } from "../html/Html.ts"

/** Renders a file of a post; `place` is its position. */
const one = (
  config: ServerConfig["Service"],
  { say }: Messages,
  media: MediaRecord,
  place: { readonly place: number; readonly count: number }
): Html => {
  const { file, preview } = addressesOf(config, media)
  if (file === null) return html``
  const text = media.description ?? ""
  const named = (without: string) => text === "" ? without : text
  switch (media.type) {
    case "image":
      return html`<a href="${file}"${
        text === "" ? html` aria-label="${say("Image {place} of {count}, no description", place)}"` : ""
      }><img src="${preview ?? file}" alt="${text}" title="${text}" loading="lazy"></a>`
    case "gifv":
      // The stylesheet shows one of the two: visitors who prefer reduced motion start the animation themselves.
      return html`<video class="moving" src="${file}" poster="${preview ?? ""}" title="${text}" aria-label="${
        named(say("Animation {place} of {count}, no description", place))
      }" controls autoplay loop muted playsinline></video><video class="still" src="${file}" poster="${
        preview ?? ""
      }" title="${text}" aria-label="${
        named(say("Animation {place} of {count}, no description", place))
      }" controls loop muted playsinline preload="none"></video>`
    case "video":
      return html`<video src="${file}" poster="${preview ?? ""}" title="${text}" aria-label="${
        named(say("Video {place} of {count}, no description", place))
      }" controls preload="none"></video>`
    case "audio":
      return html`<audio src="${file}" title="${text}" aria-label="${
        named(say("Audio {place} of {count}, no description", place))
      }" controls preload="none"></audio>`
    case "unknown":
      return html`<a href="${file}">${named(say("File"))}</a>`
  }
}

/** Renders the files of a post; sensitive ones are collapsed. */
export const attachments = (
  config: ServerConfig["Service"],
  words: Messages,
  { media, sensitive, spoilerText }: Pick<StatusRecord, "media" | "sensitive" | "spoilerText">
): Html => {
  if (media.length === 0) return html``
  const all = html`<div class="media">${
    media.map((file, index) => one(config, words, file, { place: index + 1, count: media.length }))
  }</div>`
  return sensitive && spoilerText === ""
    ? html`<details><summary>${words.say("Sensitive content")}</summary>${all}</details>`
    : all
}
