import { momentOf } from "../../Moments.ts"
import { asForeign, asText, countOf, type Foreign, typeOf } from "./Reading.ts"

/** Options of a poll that are kept, as many as Mastodon keeps, and characters of each; `room` bounds their bytes. */
export const optionsMax = 500
export const optionCharactersMax = 255

/** A poll of another server as its document says it stands; everything in it was checked and cut to size. */
export interface ForeignPoll {
  readonly options: ReadonlyArray<string>
  readonly counts: ReadonlyArray<number>
  readonly multiple: boolean
  /** Null where its server does not say how many people voted. */
  readonly voters: number | null
  /** Milliseconds since 1970, before the year 10000; undefined where it has no end. */
  readonly endsMillis: number | undefined
}

/** `closed` is a date, or says only that there is an end and that it is behind us. */
const endOf = ({ closed, endTime }: Foreign, now: number): number | undefined => {
  const [ended, ends] = [momentOf(closed), momentOf(endTime)]
  if (closed === true) return Math.min(ends ?? now, now)
  return ended === undefined ? ends : Math.min(ended, ends ?? ended)
}

/** What a question asks, at `now` in milliseconds since 1970; undefined for a note without a poll. */
export const foreignPoll = (question: Foreign, now: number): ForeignPoll | undefined => {
  if (typeOf(question, "Question") === undefined) return undefined
  const multiple = Array.isArray(question["anyOf"])
  const given: unknown = multiple ? question["anyOf"] : question["oneOf"]
  const options = (Array.isArray(given) ? given : []).slice(0, optionsMax).flatMap((item) => {
    const option = asForeign(item)
    const name = asText(option?.["name"], optionCharactersMax) || asText(option?.["content"], optionCharactersMax)
    return name ? [{ name, count: countOf(asForeign(option?.["replies"])?.["totalItems"]) ?? 0 }] : []
  })
  if (options.length === 0) return undefined
  return {
    options: options.map(({ name }) => name),
    counts: options.map(({ count }) => count),
    multiple,
    voters: countOf(question["votersCount"]) ?? null,
    endsMillis: endOf(question, now)
  }
}
