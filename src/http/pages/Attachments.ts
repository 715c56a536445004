import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { MediaRecord } from "../../services/media/MediaRecord.ts"
import type { StatusRecord } from "../../services/statuses/Statuses.ts"
import { type Html, html } from "./Html.ts"

const one = (config: ServerConfig["Service"], media: MediaRecord): Html => {
  if (media.fileName === null) return html``
  const [file, text] = [Urls.file(config, media.fileName), media.description ?? ""]
  const preview = media.previewName === null ? undefined : Urls.file(config, media.previewName)
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
