/* Number of unread notifications in the title, on the favicon and on the installed app. */

const title = document.title
const favicons = [...document.querySelectorAll<HTMLLinkElement>("link[rel=icon]")]
const addresses = favicons.map(({ href }) => href)
let count = 0

/** Draws a dot on a favicon. */
const dotted = async (address: string): Promise<string> => {
  const picture = new Image()
  picture.src = address
  await picture.decode()
  const canvas = document.createElement("canvas")
  const edge = canvas.width = canvas.height = picture.naturalWidth
  const pen = canvas.getContext("2d")
  pen?.drawImage(picture, 0, 0, edge, edge)
  pen?.beginPath()
  pen?.arc(edge * 0.72, edge * 0.28, edge * 0.26, 0, 2 * Math.PI)
  if (pen !== null) pen.fillStyle = "#d3163e"
  pen?.fill()
  return canvas.toDataURL("image/png")
}

const show = (): void => {
  document.title = count === 0 ? title : `(${count}) ${title}`
  if (count > 0) void navigator.setAppBadge?.(count).catch(() => undefined)
  else void navigator.clearAppBadge?.().catch(() => undefined)
  for (const [at, link] of favicons.entries()) {
    const address = addresses[at] ?? ""
    if (count === 0) link.href = address
    else void dotted(address).then((href) => count > 0 && (link.href = href)).catch(() => undefined)
  }
}

/** Adds an unread notification. */
export const addUnread = (): void => {
  count += 1
  show()
}

/** Number of unread notifications that the page has been told of since it was loaded. */
export const clearUnread = (): void => {
  if (count === 0) return
  count = 0
  show()
}
