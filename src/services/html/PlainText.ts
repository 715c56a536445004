import { Parser } from "htmlparser2"

/** What is in these elements is no text that people read. */
const unread = new Set(["script", "style", "textarea", "option"])

/** The text of an HTML document, for previews, searches and mails: breaks as lines, no mark-up, entities decoded. */
export const plainText = (html: string): string => {
  let text = ""
  let unreadDepth = 0
  const parser = new Parser({
    onopentagname: (name) => {
      if (name === "br") text += "\n"
      if (unread.has(name)) unreadDepth++
    },
    onclosetag: (name) => {
      if (unread.has(name)) unreadDepth--
    },
    ontext: (part) => {
      if (unreadDepth === 0) text += part
    }
  })
  parser.end(html.replace(betweenParagraphs, "</p>\n\n<p"))
  return text.trim()
}

const betweenParagraphs = /<\/p>\s*<p(?![a-z])/gi
