import { momentOf } from "../../runtime/Moments.ts"
import { asForeign, asText, countOf, type Foreign, typeOf } from "./ForeignValues.ts"

/** Maximum options that are kept, as in Mastodon, and characters of each; `room` bounds their bytes. */
export const optionsMax = 500
export const optionCharactersMax = 255

/** Remote poll with its current counts; every value was validated and truncated. */
export interface ForeignPoll {
  readonly options: ReadonlyArray<string>
  readonly counts: ReadonlyArray<number>
  readonly multiple: boolean
  /** Null if its server does not say how many people voted. */
  readonly voters: number | null
  /** Milliseconds since 1970, before the year 10000; undefined without an end. */
  readonly endsMillis: number | undefined
}

/** Returns when a poll ends. `closed` is a date, or true for a poll that has ended at an unknown time. */
const endOf = ({ closed, endTime }: Foreign, now: number): number | undefined => {
  const [ended, ends] = [momentOf(closed), momentOf(endTime)]
  if (closed === true) return Math.min(ends ?? now, now)
  return ended === undefined ? ends : Math.min(ended, ends ?? ended)
}

/** Parses a poll at `now` (milliseconds since 1970); undefined for a note without a poll. */
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
