import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { sanitise, withinMarks } from "./Sanitise.ts"
import { bytesTold } from "./Text.ts"

/** Tries of cutting a text to its room; each takes at least a tenth away. */
const cutsMax = 16

/**
 * The room that the texts of one document have together, in bytes as clients get them (ContentLimits). What does not fit is
 * cut, or left out where half of it would be something else. Here and nowhere else is decided what becomes of documents
 * that are too large.
 */
interface Room {
  /** A text, cut to what is left. */
  readonly text: (text: string) => string
  /** Allowed HTML of a source that is cut until the result fits. */
  readonly html: (source: string) => string
  /** The members of a list before the first whose texts do not fit. */
  readonly members: <A>(list: ReadonlyArray<A>, textsOf: (member: A) => ReadonlyArray<string>) => ReadonlyArray<A>
}

export const makeByteLimit = (bytesMax: number): Room => {
  let left = bytesMax
  const fit = (source: string, clean: (source: BoundedText) => string) => {
    let units = Math.min(source.length, left)
    for (let cuts = 0; cuts < cutsMax && units > 0; cuts++) {
      const made = clean(bounded(source.slice(0, units).toWellFormed()))
      const bytes = bytesTold(made)
      if (bytes <= left) {
        left -= bytes
        return made
      }
      units = Math.floor(units * Math.min(left / bytes, 0.9))
    }
    return ""
  }
  return {
    // Cut before by marks: a shorter source would keep as many of them and be cleaned for nothing.
    html: (source) => fit(withinMarks(bounded(source)), sanitise),
    text: (text) => fit(text, (cut) => cut.length === text.length ? text : cut.replace(/\uFFFD$/, "")),
    members: (list, textsOf) => {
      const kept: Array<(typeof list)[number]> = []
      for (const member of list) {
        const bytes = textsOf(member).reduce((sum, text) => sum + bytesTold(text), 0)
        if (bytes > left) break
        left -= bytes
        kept.push(member)
      }
      return kept
    }
  }
}
