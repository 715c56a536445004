import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ShownStatus } from "./StatusText.ts"

type File = ShownStatus["mediaAttachments"][number]

/** Renders a file of a status; `place` is its position. */
const one = (
  { reader: { words: { say } }, session }: Visit,
  file: File,
  place: { readonly place: number; readonly count: number }
): Html => {
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
    case "gifv": {
      const animation = (attributes: Html) =>
        html`<video src="${address}"${poster} aria-label="${
          named(say("Animation {place} of {count}, no description", place))
        }"${attributes} controls loop muted playsinline></video>`
      const still = html` class="still" preload="none"`
      // The stylesheet shows one of the two: whoever prefers reduced motion starts the animation.
      return session?.reading.autoplayGifs === true
        ? html`${animation(html` class="moving" autoplay`)}${animation(still)}`
        : animation(html` preload="none"`)
    }
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

/**
 * Renders the files of a status. By default, sensitive ones without a content warning are collapsed; members choose to
 * collapse all or none.
 */
export const mediaOf = (
  visit: Visit,
  { mediaAttachments: files, sensitive, spoilerText }: Pick<
    ShownStatus,
    "mediaAttachments" | "sensitive" | "spoilerText"
  >
): Html => {
  if (files.length === 0) return html``
  const all = html`<div class="files files-${Math.min(files.length, 4)}">${
    files.map((file, index) => one(visit, file, { place: index + 1, count: files.length }))
  }</div>`
  const { reader: { words: { say } }, session } = visit
  const expands = session?.reading.expandMedia ?? "default"
  const isOpen = spoilerText === "" || session?.reading.expandSpoilers === true
  const hides = expands === "hide_all" || (expands === "default" && sensitive && isOpen)
  return hides
    ? html`<details class="hidden-files"><summary>${
      sensitive ? say("Sensitive content") : say("Show media")
    }</summary>${all}</details>`
    : all
}
