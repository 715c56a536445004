import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { sanitise, withinMarks } from "./Sanitise.ts"
import { jsonBytes } from "./Text.ts"

/** Maximum attempts to cut a text to the remaining bytes; each removes at least a tenth. */
const cutsMax = 16

/**
 * Shared byte budget of a document's texts, as sent to clients (ContentLimits). Texts beyond it are cut, or omitted if
 * a part would mean something different. All handling of oversized documents is here.
 */
interface ByteBudget {
  /** Returns a text, cut to the remaining bytes. */
  readonly text: (text: string) => string
  /** Sanitises HTML, cut until the result fits. */
  readonly html: (source: string) => string
  /** Returns the members of a list up to the first whose texts do not fit. */
  readonly members: <A>(list: ReadonlyArray<A>, textsOf: (member: A) => ReadonlyArray<string>) => ReadonlyArray<A>
}

export const makeByteLimit = (bytesMax: number): ByteBudget => {
  let left = bytesMax
  const fit = (source: string, clean: (source: BoundedText) => string) => {
    let units = Math.min(source.length, left)
    for (let cuts = 0; cuts < cutsMax && units > 0; cuts++) {
      const cleaned = clean(bounded(source.slice(0, units).toWellFormed()))
      const bytes = jsonBytes(cleaned)
      if (bytes <= left) {
        left -= bytes
        return cleaned
      }
      units = Math.floor(units * Math.min(left / bytes, 0.9))
    }
    return ""
  }
  return {
    // Cut by marks first: a source shortened by bytes could keep as many marks, and would be sanitised in vain.
    html: (source) => fit(withinMarks(bounded(source)), sanitise),
    text: (text) => fit(text, (cut) => cut.length === text.length ? text : cut.replace(/\uFFFD$/, "")),
    members: (list, textsOf) => {
      const fitting: Array<(typeof list)[number]> = []
      for (const member of list) {
        const bytes = textsOf(member).reduce((sum, text) => sum + jsonBytes(text), 0)
        if (bytes > left) break
        left -= bytes
        fitting.push(member)
      }
      return fitting
    }
  }
}
