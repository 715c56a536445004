import type { Emoji } from "../../services/instance/Emoji.ts"
import type { PollRecord } from "../../services/statuses/Statuses.ts"
import { id, timestamp } from "../wire/Common.ts"
import type { Values } from "../wire/Keys.ts"
import type { Poll } from "../wire/Poll.ts"
import { emojiValues } from "./AccountValues.ts"

/**
 * Returns a poll's values at `now` (milliseconds since 1970), without viewer-specific ones; its id is that of its
 * status (entities.md, Poll).
 */
export const pollValues = (
  statusId: bigint,
  { counts, expiresAt, hideTotals, multiple, options, voters }: PollRecord,
  emojis: ReadonlyArray<Emoji>,
  now: number
): Values<Poll> => {
  const ends = expiresAt === null ? null : new Date(expiresAt)
  const expired = ends !== null && ends.getTime() <= now
  return {
    id: id(statusId),
    expiresAt: ends === null ? null : timestamp(ends),
    expired,
    multiple,
    votesCount: counts.reduce((sum, count) => sum + count, 0),
    votersCount: voters,
    options: options.map((title, at) => ({ title, votesCount: hideTotals && !expired ? null : counts[at] ?? 0 })),
    emojis: emojis.map(emojiValues)
  }
}
