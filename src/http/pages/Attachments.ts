import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { addressesOf } from "../../services/media/MediaAddresses.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { StatusRecord } from "../../services/statuses/Statuses.ts"
import { type Html, html } from "./Html.ts"

/** A file of a post; `place` is which one it is: "2 of 3". */
const one = (config: ServerConfig["Service"], media: MediaRecord, place: string): Html => {
  const { file, preview } = addressesOf(config, media)
  if (file === null) return html``
  const text = media.description ?? ""
  switch (media.type) {
    case "image":
      return html`<a href="${file}"${
        text === "" ? html` aria-label="Picture ${place}, without a description"` : ""
      }><img src="${preview ?? file}" alt="${text}" title="${text}" loading="lazy"></a>`
    case "gifv":
      // The page's style shows the one or the other: whoever wants less motion starts it.
      return html`<video class="moving" src="${file}" poster="${preview ?? ""}" title="${text}" aria-label="${
        nameOf(text, "Animation", place)
      }" controls autoplay loop muted playsinline></video><video class="still" src="${file}" poster="${
        preview ?? ""
      }" title="${text}" aria-label="${
        nameOf(text, "Animation", place)
      }" controls loop muted playsinline preload="none"></video>`
    case "video":
      return html`<video src="${file}" poster="${preview ?? ""}" title="${text}" aria-label="${
        nameOf(text, "Video", place)
      }" controls preload="none"></video>`
    case "audio":
      return html`<audio src="${file}" title="${text}" aria-label="${
        nameOf(text, "Sound", place)
      }" controls preload="none"></audio>`
    case "unknown":
      return html`<a href="${file}">${text === "" ? "A file" : text}</a>`
  }
}

const nameOf = (text: string, kind: string, place: string) =>
  text === "" ? `${kind} ${place}, without a description` : text

/** The files of a post; sensitive ones only when the reader opens them. */
export const attachments = (
  config: ServerConfig["Service"],
  { media, sensitive, spoilerText }: Pick<StatusRecord, "media" | "sensitive" | "spoilerText">
): Html => {
  if (media.length === 0) return html``
  const all = html`<div class="media">${
    media.map((file, index) => one(config, file, `${index + 1} of ${media.length}`))
  }</div>`
  return sensitive && spoilerText === "" ? html`<details><summary>Sensitive content</summary>${all}</details>` : all
}
