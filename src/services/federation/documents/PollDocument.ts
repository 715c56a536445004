import type { PollRecord } from "../../statuses/Statuses.ts"
import { type Document, moment } from "./Vocabulary.ts"

/**
 * Returns the properties that make a note a Question, at `now` in milliseconds since 1970. Hidden totals are left out
 * until the poll ends (federation.md section 9).
 */
export const pollDocument = (
  { counts, expiresAt, hideTotals, multiple, options, voters }: PollRecord,
  now: number
): Document => {
  const ends = expiresAt === null ? undefined : new Date(expiresAt)
  const closed = ends !== undefined && ends.getTime() <= now
  const showsTotals = closed || !hideTotals
  return {
    type: "Question",
    [multiple ? "anyOf" : "oneOf"]: options.map((name, at) => ({
      type: "Note",
      name,
      replies: { type: "Collection", ...(showsTotals ? { totalItems: counts[at] ?? 0 } : {}) }
    })),
    ...(ends === undefined ? {} : { endTime: moment(ends) }),
    ...(closed && ends !== undefined ? { closed: moment(ends) } : {}),
    ...(voters === null ? {} : { votersCount: voters })
  }
}
