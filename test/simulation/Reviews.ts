import { Effect } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { type AccountId, StatusId } from "../../src/services/database/Ids.ts"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Performed } from "./Performed.ts"
import type { Outcome } from "./Scenario.ts"
import type { Dice } from "./Seeded.ts"
import * as SpamRules from "./SpamRules.ts"

/** Weight of a review among an account's commands, and the share of approvals. */
const weight = 60
const approvedShare = 0.5

/**
 * Returns the choice to review one of the posts that the rule matched, given an account's acknowledged commands. A post
 * may be chosen again: two moderators decide at the same time.
 */
export const draw = (
  dice: Dice,
  by: AccountId,
  done: ReadonlyArray<Outcome>
): ReadonlyArray<readonly [weight: number, choice: Command]> => {
  const matched = done.flatMap(({ command, result }) =>
    SpamRules.isSpam(command) && typeof result === "object" && "id" in result
      ? StatusId.make(BigInt(result.id))
      : []
  )
  if (matched.length === 0) return []
  return [[weight, {
    _tag: "ReviewPost",
    statusId: dice.pick(matched),
    by,
    approved: dice.chance(approvedShare)
  }]]
}

interface Reviewed {
  readonly by: bigint
  readonly post: Extract<Command, { readonly _tag: "Publish" }>["post"]
  state: "held" | "approved" | "rejected" | "deleted"
  /** Time of the approval, in milliseconds since 1970. */
  approvedAt: number
  /** Number of moderators' decisions. */
  decisions: number
}

/** Replays the committed commands on the posts that the rule matched. */
const replay = (performed: ReadonlyArray<Performed>, commandOf: ReadonlyMap<string, Command>) => {
  const posts = new Map<bigint, Reviewed>()
  const broken: Array<string> = []
  for (const { accountId, resultId, at, commandId } of performed) {
    const command = commandId === null ? undefined : commandOf.get(commandId)
    if (SpamRules.isSpam(command)) {
      const { post } = command
      posts.set(BigInt(resultId ?? 0), { by: accountId, post, state: "held", approvedAt: Infinity, decisions: 0 })
    }
    if (command?._tag !== "ReviewPost" && command?._tag !== "Delete") continue
    const found = posts.get(command.statusId)
    if (command._tag === "Delete") {
      if (found !== undefined) found.state = "deleted"
      continue
    }
    if (found?.state !== "held") {
      broken.push(`I35: ${command.statusId} was reviewed when it was ${found?.state ?? "not matched"}`)
    }
    if (found === undefined) continue
    found.state = command.approved ? "approved" : "rejected"
    found.decisions++
    if (command.approved) found.approvedAt = at.getTime()
  }
  return { posts, broken }
}

/**
 * I35: a held post is visible only to its author, in rows, streams and notifications. One decision ends the review: the
 * approved post has the audience and mentions that it was written with, and the rejected one is deleted. `Homes` and
 * `NotificationInvariants` check that an approved post is in each feed and announced, once.
 */
export const check = Effect.fnUntraced(function*(
  { locked, people, shared: { sql }, world }: Aftermath,
  facts: Facts,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  if (SpamRules.actionOf(world.seed) !== "hold") return []
  const { broken, posts } = replay(performed, commandOf)
  const held = new Set((yield* sql<{ id: bigint }>`SELECT status_id AS id FROM held_posts`).map(({ id }) => id))
  const logged = yield* sql<{ id: bigint; times: number }>`SELECT target_id AS id, count(*)::int AS times FROM audit_log
    WHERE target_type = 'status' AND action IN ('approve', 'reject') AND NOT after ? 'refused' GROUP BY 1`
  const timesOf = new Map(logged.map(({ id, times }) => [id, times]))
  for (const id of held) if (!posts.has(id)) broken.push(`I35: ${id} is held, although the rule does not match it`)
  for (const [id, { approvedAt, by, decisions, post, state }] of posts) {
    world.count(`spam ${state}`)
    const what = `${id}, which is ${state}`
    for (const { at, message } of world.busMessages) {
      if (message._tag === "StatusEvent" && message.statusId === id && at < approvedAt) {
        broken.push(`I35: streams got ${what}`)
      }
    }
    if (held.has(id) !== (state === "held")) broken.push(`I35: ${what}, is ${held.has(id) ? "" : "not "}in review`)
    const times = timesOf.get(id) ?? 0
    if (times !== decisions) broken.push(`I35: the audit log has ${times} decisions about ${what}`)
    const row = facts.byId.get(id)
    if (state === "deleted" || state === "rejected" || row === undefined) continue
    const silent = facts.rows.mentions.filter((one) => one.statusId === id && one.silent)
    if (state === "approved") {
      const visibility = post.visibility ?? (locked.has(by) ? "private" : "public")
      if (row.visibility !== visibility) broken.push(`I35: ${what}, is ${row.visibility}, not ${visibility}`)
      if (silent.length > 0) broken.push(`I35: ${what}, does not reach ${silent.map(({ accountId }) => accountId)}`)
      continue
    }
    const readers = people.filter((viewer) => viewer !== by && facts.canSee(viewer, id))
    if (readers.length > 0) broken.push(`I35: ${readers} see ${what}`)
    const notified = facts.rows.notifications.filter((one) => one.statusId === id && one.accountId !== by)
    if (notified.length > 0) broken.push(`I35: ${notified.map(({ accountId }) => accountId)} are notified of ${what}`)
  }
  return broken
})
