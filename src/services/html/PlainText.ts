import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { readMarkup } from "./MarkupReader.ts"

/** Elements whose content is not text for readers. */
const unread = new Set(["script", "style", "textarea", "option"])

/**
 * Returns the text of an HTML document, for previews, search and mails: line breaks as newlines, no markup, entities
 * decoded.
 */
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
  // Combining marks may be written as entities.
  return bounded(all.trim())
}

const betweenParagraphs = /<\/p>\s*<p(?![a-z])/gi
