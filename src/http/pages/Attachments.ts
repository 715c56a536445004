import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { addressesOf } from "../../services/media/MediaAddresses.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { StatusRecord } from "../../services/statuses/Statuses.ts"
import { type Html, html } from "./Html.ts"

const one = (config: ServerConfig["Service"], media: MediaRecord): Html => {
  const { file, preview } = addressesOf(config, media)
  if (file === null) return html``
  const text = media.description ?? ""
  switch (media.type) {
    case "image":
      return html`<a href="${file}"><img src="${preview ?? file}" alt="${text}" title="${text}" loading="lazy"></a>`
    case "gifv":
      return html`<video src="${file}" poster="${
        preview ?? ""
      }" title="${text}" autoplay loop muted playsinline></video>`
    case "video":
      return html`<video src="${file}" poster="${preview ?? ""}" title="${text}" controls preload="none"></video>`
    case "audio":
      return html`<audio src="${file}" title="${text}" controls preload="none"></audio>`
    case "unknown":
      return html`<a href="${file}">${text === "" ? "A file" : text}</a>`
  }
}

/** The files of a post; sensitive ones only when the reader opens them. */
export const attachments = (config: ServerConfig["Service"], { media, sensitive, spoilerText }: StatusRecord): Html => {
  if (media.length === 0) return html``
  const all = html`<div class="media">${media.map((file) => one(config, file))}</div>`
  return sensitive && spoilerText === "" ? html`<details><summary>Sensitive content</summary>${all}</details>` : all
}
