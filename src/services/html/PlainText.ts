import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { readMarkup } from "./MarkupReader.ts"

/** What is in these elements is no text that people read. */
const unread = new Set(["script", "style", "textarea", "option"])

/** The text of an HTML document, for previews, searches and mails: breaks as lines, no mark-up, entities decoded. */
export const plainText = (html: BoundedText): BoundedText => {
  let all = ""
  let unreadDepth = 0
  readMarkup(bounded(html.replace(betweenParagraphs, "</p>\n\n<p")), {
    open: (name) => {
      if (name === "br") all += "\n"
      if (unread.has(name)) unreadDepth++
    },
    text: (part) => {
      if (unreadDepth === 0) all += part
    },
    close: (name) => {
      if (unread.has(name)) unreadDepth--
    }
  })
  // Marks may be written as entities.
  return bounded(all.trim())
}

const betweenParagraphs = /<\/p>\s*<p(?![a-z])/gi
