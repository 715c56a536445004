import { Effect } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { moderated } from "./ConsentPlan.ts"
import { type Facts, pair } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Performed } from "./Performed.ts"

/** Maximum difference between the clocks of two nodes, in milliseconds. */
const clockMillisOff = 3_000

interface Poll {
  readonly statusId: bigint
  readonly accountId: bigint
  readonly expiresAt: Date
  readonly voters: ReadonlyArray<bigint>
}

/**
 * I27: only the author and the voters of a poll are notified of its end, once and not early. Ignores accounts that
 * moderators restricted, and late votes that one node took after another had ended the poll.
 */
export const check = Effect.fnUntraced(function*(
  { outcomes, shared: { sql }, world }: Aftermath,
  { rows: { notifications } }: Facts,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  const broken: Array<string> = []
  const polls = yield* sql<Poll>`SELECT p.status_id, s.account_id, p.expires_at,
      ARRAY(SELECT DISTINCT account_id FROM poll_votes v WHERE v.status_id = p.status_id ORDER BY 1) AS voters
    FROM polls p JOIN statuses s ON s.id = p.status_id WHERE s.deleted_at IS NULL AND p.expires_at IS NOT NULL`
  const restricted = moderated(outcomes)
  const votedAt = new Map(performed.flatMap(({ accountId, at, commandId }) => {
    const command = commandId === null ? undefined : commandOf.get(commandId)
    return command?._tag === "Vote" ? [[pair(accountId, command.statusId), at.getTime()] as const] : []
  }))
  for (const { accountId: author, expiresAt, statusId, voters } of polls) {
    const ended = notifications.filter((one) => one.type === "poll" && one.statusId === statusId)
    const end = expiresAt.getTime()
    const isOver = end + clockMillisOff < world.time.now
    if (isOver) world.count("poll ended")
    for (const who of new Set([author, ...voters])) {
      const times = ended.filter(({ accountId }) => accountId === who).length
      const late = (votedAt.get(pair(who, statusId)) ?? 0) > end - clockMillisOff
      if (times > 1) broken.push(`I27: ${who} got ${times} notifications of the end of ${statusId}`)
      if (times === 0 && isOver && !late && !restricted.has(who) && !restricted.has(author)) {
        broken.push(`I27: ${who} got no notification of the end of ${statusId}`)
      }
    }
    for (const { accountId, id } of ended) {
      if (accountId !== author && !voters.includes(accountId)) {
        broken.push(`I27: ${accountId} got a notification of ${statusId}`)
      }
      if (Number(id >> 16n) < end - clockMillisOff) broken.push(`I27: ${id} was created before ${statusId} ended`)
    }
  }
  return broken
})
