import { escape } from "../html/Compose.ts"
import { readMarkup } from "../html/MarkupReader.ts"
import { bounded } from "../text/BoundedText.ts"
import { webUrl } from "./CardTexts.ts"
import { siteOf } from "./Sites.ts"

/** Edges of a player, in pixels. */
const edgePixelsMax = 4_096
/** Bytes of an embedding's HTML that are read. */
const htmlBytesMax = 16_384

/** What a player in a frame may do: nothing to the page that it is in. */
const sandbox = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms"

/** Pixels, as a number or a text; 0 for whatever else it is. */
export const pixelsOf = (value: unknown): number => {
  const pixels = typeof value === "number" ? value : typeof value === "string" && /^\d{1,5}$/.test(value) ? +value : 0
  return Number.isFinite(pixels) && pixels > 0 && pixels <= edgePixelsMax ? Math.round(pixels) : 0
}

/** A frame, and how large it is. */
export interface PlayerFrame {
  readonly html: string
  readonly width: number
  readonly height: number
}

/**
 * A frame with a player at `src`, which has to be of the same site as the page at `pageUrl`, over TLS (row 42). It is written
 * anew: nothing of the mark-up that named it is left.
 */
export const playerFrame = (
  src: string | undefined,
  pageUrl: string,
  size: { readonly width: unknown; readonly height: unknown }
): PlayerFrame | undefined => {
  const [url, page] = [webUrl(src, pageUrl), URL.parse(pageUrl)]
  if (url === undefined || page === null || url.protocol !== "https:" || url.port !== "") return undefined
  if (siteOf(url.hostname) !== siteOf(page.hostname)) return undefined
  const [width, height] = [pixelsOf(size.width), pixelsOf(size.height)]
  const html = `<iframe src="${escape(url.href)}"${width > 0 ? ` width="${width}"` : ""}${
    height > 0 ? ` height="${height}"` : ""
  } allowfullscreen="true" frameborder="0" scrolling="no" sandbox="${sandbox}"></iframe>`
  return { html, width, height }
}

/** The first frame in a piece of HTML that may stay. */
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
