import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { type AccountId, StatusId } from "../../src/services/database/Ids.ts"
import { inputOf } from "../../src/services/statuses/Post.ts"
import { post } from "../support/Posts.ts"
import { tagName } from "./Lists.ts"
import * as Reports from "./Reports.ts"
import * as Reviews from "./Reviews.ts"
import type { Known, Plan } from "./Scenario.ts"
import { Dice } from "./Seeded.ts"
import * as SpamRules from "./SpamRules.ts"

/** Duration of the phase in which commands start, in milliseconds. */
export const rushMillis = 6000

/** First characters of a reply's text. */
export const replying = "re "

/** Delay of a scheduled status, and minimum postponement, in milliseconds. */
const aheadMillis = 5 * 60_000
const laterMillis = 12_000

/**
 * Returns the start of a seed's last commands, in milliseconds after the first ones: 0 for most seeds. In the others
 * actors become idle first, and scheduled statuses become due.
 */
export const lateMillis = (seed: number) => new Dice(seed, "length").chance(0.3) ? aheadMillis : 0

/** Plans accounts that use all commands, in proportions that differ by seed. `moderator` reviews held posts. */
export const make = (moderator: AccountId) => ({ accounts, outcomes, published, world }: Known): Plan => {
  const late = lateMillis(world.seed)
  // Each seed does some things more often than others, and some not at all: undoing can hide a fault.
  const mix = new Dice(world.seed, "mix")
  const share = () => mix.pick([0, 0, 0.5, 2])
  const [changes, reactions, follows, aversions] = [share(), share(), share(), share()]
  const rule = SpamRules.actionOf(world.seed)
  const [offers, holds] = [rule === undefined ? 0 : 1, rule === "hold" ? 1 : 0]
  const words = new Dice(world.seed, "words").pick([0, 0, 1, 2])
  const nameOf = (account: AccountId) => `p${accounts.indexOf(account)}`

  const draw = (dice: Dice, account: AccountId, n: number): Command => {
    const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
      _tag: "Publish",
      post: post(text, more)
    })
    const target = dice.pick(accounts.filter((other) => other !== account))
    const statusId = published.length === 0 ? undefined : dice.pick(published).id
    // Undo commands mostly concern earlier commands. Deletes and edits mostly concern posts with replies, reblogs or
    // favourites.
    const done = outcomes.filter(({ result }) => typeof result === "object" && "id" in result)
    const touched = new Set(
      done.flatMap(({ command }) => "statusId" in command ? command.statusId : inReplyTo(command))
    )
    const own = published.filter(({ author }) => author === account).map(({ id }) => id)
    const ownId = anyOf(dice, own.filter((id) => touched.has(id)), own.at(-1))
    const mineOf = (tag: Command["_tag"]) =>
      done.flatMap(({ account: who, command }) => who === account && command._tag === tag ? command : [])
    const statusOf = (tag: Command["_tag"]) =>
      anyOf(dice, mineOf(tag).flatMap((command) => "statusId" in command ? command.statusId : []), some.statusId)
    const targetOf = (tag: Command["_tag"]) =>
      anyOf(dice, mineOf(tag).flatMap((command) => "target" in command ? command.target : []), target)
    const whoDid = (tag: "Block" | "Follow") =>
      done.flatMap(({ account: who, command }) => command._tag === tag && command.target === account ? who : [])
    const asker = anyOf(dice, whoDid("Follow"), target)
    // Blocked accounts also try to follow.
    const whom = { target: anyOf(dice, aversions > 0 ? whoDid("Block") : [], target) }
    const often = (tag: Command["_tag"]) => mineOf(tag).length > 0 ? 6 : 1
    const [onStatus, onOwn] = [statusId === undefined ? 0 : 1, ownId === undefined ? 0 : 1]
    const some = { statusId: statusId ?? StatusId.make(0n) }
    const mine = { statusId: ownId ?? StatusId.make(0n) }
    const seconds = dice.chance(0.5) ? 5 : 0
    const scheduled = done.flatMap(({ account: who, command, result }) =>
      who === account && command._tag === "Schedule" && typeof result === "object" && "id" in result
        ? StatusId.make(BigInt(result.id))
        : []
    )
    const onScheduled = scheduled.length === 0 || n % 4 === 0 ? 0 : 1
    const planned = { scheduledId: scheduled.length === 0 ? StatusId.make(0n) : dice.pick(scheduled) }
    const scheduledAt = world.time.now + aheadMillis + dice.between(2000, 8000)
    return dice.weighted<Command>([
      [20, publish(`post ${n}`)],
      [6, publish(`tagged #${tagName} ${n}`)],
      [10, publish(`hi @${nameOf(target)} ${n}`)],
      [4, publish(`quiet ${n}`, { visibility: "private" })],
      [4, publish(`psst @${nameOf(target)} ${n}`, { visibility: "direct" })],
      [6 * onStatus, publish(`${replying}${n}`, { inReplyToId: some.statusId })],
      [8 * reactions * onStatus, { _tag: "Favourite", ...some }],
      [often("Favourite") * reactions * onStatus, { _tag: "Unfavourite", statusId: statusOf("Favourite") }],
      [8 * reactions * onStatus, { _tag: "Reblog", ...some, visibility: null }],
      [often("Reblog") * reactions * onStatus, { _tag: "Unreblog", statusId: statusOf("Reblog") }],
      [5 * changes * onOwn, { _tag: "Delete", ...mine }],
      [4 * changes * onOwn, {
        _tag: "Edit",
        ...mine,
        text: `edited ${n}`,
        ...inputOf({})
      }],
      [2 * changes * onOwn, { _tag: "Pin", ...mine }],
      [late === 0 || n % 4 === 0 ? 0 : 8, {
        _tag: "Schedule",
        post: post(`later ${n}`),
        scheduledAt
      }],
      // Postponed by more than the clock skew, so that a status posted too early is noticed.
      [12 * onScheduled, { _tag: "Reschedule", ...planned, scheduledAt: scheduledAt + laterMillis }],
      [5 * onScheduled, { _tag: "CancelScheduled", ...planned }],
      [7 * offers, publish(`${SpamRules.word} birds ${n}`)],
      [7 * holds, publish(`${SpamRules.word} this @${nameOf(target)} #${tagName} ${n}`)],
      [3 * holds, publish(`${SpamRules.word} here ${n}`, { visibility: "private" })],
      ...(holds === 0 ? [] : Reviews.draw(dice, moderator, done.filter((one) => one.account === account))),
      [2, Reports.report(target, n)],
      [8 * follows, { _tag: "Follow", ...whom, reblogs: dice.chance(0.8), notify: dice.chance(0.3), languages: null }],
      [4 * follows, { _tag: "Unfollow", target: targetOf("Follow") }],
      [2 * follows, { _tag: "AuthorizeFollow", target: asker }],
      [1 * follows, { _tag: "RejectFollow", target: asker }],
      [1 * follows, { _tag: "RemoveFollower", target: asker }],
      [3 * words, { _tag: "FollowTag", name: tagName }],
      [(often("FollowTag") - 1) / 2 * words, { _tag: "UnfollowTag", name: tagName }],
      [2 * aversions, { _tag: "Block", target }],
      [often("Block") * aversions, { _tag: "Unblock", target: targetOf("Block") }],
      [3 * aversions, { _tag: "Mute", target, notifications: dice.chance(0.7), seconds }],
      [often("Mute") * aversions, { _tag: "Unmute", target: targetOf("Mute") }]
    ])
  }

  return {
    waits: (dice, n) => dice.between(0, rushMillis) + (n % 4 === 0 ? late : 0),
    who: (dice) => dice.pick(accounts),
    draw
  }
}

const inReplyTo = (command: Command) => command._tag === "Publish" ? command.post.inReplyToId ?? [] : []

/** Picks one of the items in three of four cases if there are any, otherwise `fallback`. */
const anyOf = <A, B>(dice: Dice, items: ReadonlyArray<A>, fallback: B) =>
  items.length > 0 && dice.chance(0.75) ? dice.pick(items) : fallback
