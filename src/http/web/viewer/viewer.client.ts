/* Pictures of a post in a dialog: arrows, Escape, the text of the picture, zoom. */

import { dialogOf } from "../shell/parts.client.ts"

const dialog = dialogOf("viewer")
const picture = dialog?.querySelector("img")
const caption = dialog?.querySelector("figcaption")

let links: ReadonlyArray<HTMLAnchorElement> = []
let at = 0

const show = (to: number): void => {
  const link = links[to]
  if (link === undefined || dialog === null || !picture || !caption) return
  at = to
  const text = link.querySelector("img")?.alt ?? ""
  dialog.classList.remove("zoomed")
  picture.src = link.href
  picture.alt = text
  caption.textContent = text
  for (const [name, isOff] of [["previous", at === 0], ["next", at === links.length - 1]] as const) {
    const button = dialog.querySelector<HTMLButtonElement>(`button.${name}`)
    if (button !== null) button.disabled = isOff
  }
}

/** Opens the viewer at a picture of an article. */
export const view = (link: HTMLAnchorElement): void => {
  links = [...link.closest(".files")?.querySelectorAll<HTMLAnchorElement>("a.file") ?? [link]]
  show(links.indexOf(link))
  dialog?.showModal()
  dialog?.querySelector<HTMLElement>("button.close")?.focus()
}

const acts: Readonly<Record<string, () => void>> = {
  previous: () => show(at - 1),
  next: () => show(at + 1),
  zoom: () => dialog?.classList.toggle("zoomed"),
  close: () => dialog?.close()
}

const byKey: Readonly<Record<string, string>> = { ArrowLeft: "previous", ArrowRight: "next", z: "zoom" }

document.addEventListener("click", (event) => {
  const { target } = event
  if (!(target instanceof Element) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
  const link = target.closest<HTMLAnchorElement>("a.file")
  if (link === null || dialog === null) return
  event.preventDefault()
  view(link)
})

dialog?.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return
  if (target === dialog) dialog.close()
  else if (target === picture) acts["zoom"]?.()
  else acts[target.closest("button")?.className ?? ""]?.()
})
dialog?.addEventListener("keydown", (event) => {
  const isLeftward = getComputedStyle(document.documentElement).direction === "rtl"
  const name = byKey[event.key]
  if (name === undefined) return
  event.preventDefault()
  acts[isLeftward && name !== "zoom" ? (name === "next" ? "previous" : "next") : name]?.()
})
dialog?.addEventListener("close", () => {
  picture?.removeAttribute("src")
  links[at]?.focus({ preventScroll: true })
})
