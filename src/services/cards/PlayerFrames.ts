import { escape } from "../html/Compose.ts"
import { readMarkup } from "../html/MarkupReader.ts"
import { bounded } from "../text/BoundedText.ts"
import { webUrl } from "./CardTexts.ts"
import { registrableDomain } from "./Sites.ts"

/** Maximum width and height of a player, in pixels. */
const edgePixelsMax = 4_096
/** Maximum bytes of an embed's HTML that are read. */
const htmlBytesMax = 16_384

/** Permissions of a framed player: none on the embedding page. */
const sandbox = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms"

/** Parses pixels from a number or a text; 0 if invalid. */
export const pixelsOf = (value: unknown): number => {
  const pixels = typeof value === "number" ? value : typeof value === "string" && /^\d{1,5}$/.test(value) ? +value : 0
  return Number.isFinite(pixels) && pixels > 0 && pixels <= edgePixelsMax ? Math.round(pixels) : 0
}

/** An iframe and its size in pixels. */
export interface PlayerFrame {
  readonly html: string
  readonly width: number
  readonly height: number
}

/**
 * Returns an iframe with a player at `src`, which must be HTTPS and of the same site as the page at `pageUrl` (row 42).
 * The markup is built from scratch: none of the original is kept.
 */
export const playerFrame = (
  src: string | undefined,
  pageUrl: string,
  size: { readonly width: unknown; readonly height: unknown }
): PlayerFrame | undefined => {
  const [url, page] = [webUrl(src, pageUrl), URL.parse(pageUrl)]
  if (url === undefined || page === null || url.protocol !== "https:" || url.port !== "") return undefined
  if (registrableDomain(url.hostname) !== registrableDomain(page.hostname)) return undefined
  const [width, height] = [pixelsOf(size.width), pixelsOf(size.height)]
  const html = `<iframe src="${escape(url.href)}"${width > 0 ? ` width="${width}"` : ""}${
    height > 0 ? ` height="${height}"` : ""
  } allowfullscreen="true" frameborder="0" scrolling="no" sandbox="${sandbox}"></iframe>`
  return { html, width, height }
}

/** Returns the first allowed iframe in a piece of HTML. */
export const frameIn = (
  html: string,
  pageUrl: string,
  size: { readonly width: unknown; readonly height: unknown }
): PlayerFrame | undefined => {
  let found: PlayerFrame | undefined
  readMarkup(bounded(html, htmlBytesMax), {
    open: (name, { height, src, width }) => {
      if (name !== "iframe" || found !== undefined) return
      found = playerFrame(src, pageUrl, {
        width: pixelsOf(size.width) || width,
        height: pixelsOf(size.height) || height
      })
    }
  })
  return found
}
