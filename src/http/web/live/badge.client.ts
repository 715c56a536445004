/* Number of unread notifications in the menu, in the title, on the favicon and on the installed app: one number. */

import { gathered } from "./gather.client.ts"

const title = document.title
const favicons = [...document.querySelectorAll<HTMLLinkElement>("link[rel=icon]")]
const addresses = favicons.map(({ href }) => href)
let isDotted = false

/** Draws a dot on a favicon. */
const dotted = async (address: string): Promise<string> => {
  const picture = new Image()
  picture.src = address
  await picture.decode()
  const canvas = document.createElement("canvas")
  const edge = canvas.width = canvas.height = picture.naturalWidth
  const context2d = canvas.getContext("2d")
  context2d?.drawImage(picture, 0, 0, edge, edge)
  context2d?.beginPath()
  context2d?.arc(edge * 0.72, edge * 0.28, edge * 0.26, 0, 2 * Math.PI)
  if (context2d !== null) context2d.fillStyle = "#d3163e"
  context2d?.fill()
  return canvas.toDataURL("image/png")
}

/** Shows the number of the menu in all other places. */
const show = (): void => {
  const badge = document.querySelector<HTMLElement>("nav a[data-counts] .unread-count")
  const count = Number(badge?.dataset["count"] ?? 0)
  document.title = badge === null ? title : `(${badge.textContent}) ${title}`
  if (count > 0) void navigator.setAppBadge?.(count).catch(() => undefined)
  else void navigator.clearAppBadge?.().catch(() => undefined)
  if (isDotted === count > 0) return
  isDotted = count > 0
  for (const [at, link] of favicons.entries()) {
    const address = addresses[at] ?? ""
    if (count === 0) link.href = address
    else void dotted(address).then((href) => isDotted && (link.href = href)).catch(() => undefined)
  }
}

/** Fetches the number from the server, which other tabs, apps and nodes change as well. */
const load = async (): Promise<void> => {
  const response = await fetch("/web/unread")
  if (!response.ok || response.redirected) return
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body
  for (const link of document.querySelectorAll("nav a[data-counts]")) {
    for (const old of link.querySelectorAll(".unread-count, .unread-count + .unseen")) old.remove()
    link.append(...Array.from(fresh.children, (one) => document.importNode(one, true)))
  }
  show()
}

/** Shows the number that the server has. */
export const recount = gathered(load)

show()
