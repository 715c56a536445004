import { escape } from "../../html/Compose.ts"
import { sanitise } from "../../html/Sanitise.ts"
import { bounded } from "../../text/BoundedText.ts"
import { asForeign, asList, type Foreign, type ReadUrl, worded } from "./ForeignValues.ts"

/* Objects other than notes; timelines show their title, summary and link (federation.md section 8). */

export const otherKinds = ["Article", "Page", "Image", "Audio", "Video", "Event"] as const

/** Maximum characters of a title, and of a summary or a note's content warning; the rest is cut (row 39). */
export const titleCharactersMax = 2_048
export const summaryCharactersMax = 5_000

const mediaTypeOf = (link: unknown) => {
  const type = asForeign(link)?.["mediaType"]
  return typeof type === "string" ? type.toLowerCase() : undefined
}

/** Returns true for links to a file: they have a media type that is not a page's. */
export const isFileLink = (link: unknown): boolean => !/^(?:text\/html|undefined)\b/.test(String(mediaTypeOf(link)))

/** Returns the object's HTML page: a URL at its own host that is not a file; otherwise its id. */
export const pageOf = (object: Foreign, id: URL, readUrl: ReadUrl): string => {
  const pages = asList(object["url"]).filter((link) => !isFileLink(link))
  const page = pages.map((link) => readUrl(asForeign(link)?.["href"] ?? link)).find((url) => url?.host === id.host)
  return page?.href ?? id.href
}

/** Returns title, summary and a link to the page at `url`, as HTML. */
export const digestOf = (object: Foreign, url: string): string => {
  const title = worded(object, "name", titleCharactersMax).text.trim()
  const summary = worded(object, "summary", summaryCharactersMax).text.trim()
  const parts = [
    ...(title === "" ? [] : [`<h1>${escape(title)}</h1>`]),
    ...(summary === "" ? [] : [/^<(?:p|ul|ol|blockquote|pre)\b/i.test(summary) ? summary : `<p>${summary}</p>`]),
    `<p><a href="${escape(url)}">${escape(url)}</a></p>`
  ]
  return parts.map((part) => sanitise(bounded(part))).join("")
}

/** Returns the object with its file as an attachment, if one of its URLs is the file itself. */
export const withFile = (object: Foreign, kind: string): Foreign => {
  const file = asList(object["url"]).find((link) => mediaTypeOf(link)?.startsWith(`${kind.toLowerCase()}/`))
  return file === undefined || asList(object["attachment"]).length > 0 ? object : {
    ...object,
    attachment: [{
      type: "Document",
      mediaType: mediaTypeOf(file),
      url: file,
      name: object["name"],
      icon: object["icon"]
    }]
  }
}
