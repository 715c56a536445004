import { moderated } from "./ConsentPlan.ts"
import { notificationKey } from "./Dismissals.ts"
import { type Facts, pair } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"

/**
 * I9: each current favourite, reblog, mention and follow is notified once, and nothing else; no stream repeats a
 * notification. Ignores pairs with a block or mute at any time and accounts that moderators restricted, because their
 * notifications depend on the timing.
 */
export const check = (aftermath: Aftermath, facts: Facts): ReadonlyArray<string> => {
  const { followers, outcomes, world } = aftermath
  const { dismissed } = world
  const { favourites, follows, mentions, notifications, requests, statuses } = facts.rows
  const broken: Array<string> = []
  const blockedPairs = new Set<string>()
  const restricted = moderated(outcomes)
  for (const { account, command } of [...outcomes, ...world.transfers.commands.values()]) {
    if (command._tag !== "Block" && command._tag !== "Mute") continue
    blockedPairs.add(pair(account, command.target)).add(pair(command.target, account))
  }
  const isExempt = (to: bigint, from: bigint) =>
    blockedPairs.has(pair(to, from)) || restricted.has(to) || restricted.has(from)
  const wanted = new Map<string, number>()
  const want = (type: string, to: bigint, from: bigint, statusId: bigint) => {
    if (to === from) return
    // A dismissed notification is gone, and so are notifications of a dismissed request.
    const isDismissed = dismissed.keys.has(notificationKey(type, to, from, statusId)) ||
      dismissed.keys.has(notificationKey(type, to, from, 0n))
    wanted.set(notificationKey(type, to, from, statusId), isExempt(to, from) || isDismissed ? 0 : 1)
  }
  const authorOf = (id: bigint) => facts.byId.get(id)
  for (const { accountId, statusId } of favourites) {
    const status = authorOf(statusId)
    if (status?.deletedAt === null) want("favourite", status.accountId, accountId, statusId)
  }
  for (const { accountId, deletedAt, reblogOfId } of statuses) {
    const original = reblogOfId === null || deletedAt !== null ? undefined : authorOf(reblogOfId)
    if (original !== undefined) want("reblog", original.accountId, accountId, original.id)
  }
  for (const { accountId, quiet, silent, statusId } of mentions) {
    const status = authorOf(statusId)
    // A mention that an edit removed may or may not have been notified, depending on the order.
    if (status?.deletedAt === null && !silent && !quiet) want("mention", accountId, status.accountId, statusId)
  }
  for (const { accountId, targetAccountId } of follows) {
    if (!followers.has(pair(accountId, targetAccountId))) want("follow", targetAccountId, accountId, 0n)
  }
  for (const request of requests) {
    const [from, to] = request.split(">").map(BigInt)
    want("follow_request", to!, from!, 0n)
  }
  const found = Map.groupBy(notifications, (n) => {
    const about = n.statusId === 0n ? n.reportId : n.statusId
    return notificationKey(n.type, n.accountId, n.fromAccountId, about)
  })
  for (const [what, least] of wanted) {
    if ((found.get(what)?.length ?? 0) < least) broken.push(`I9: no notification of ${what}`)
  }
  for (const [what, rows] of found) {
    if (rows.length > 1) broken.push(`I9: ${rows.length} notifications of ${what}`)
    const { accountId, fromAccountId, statusId, type } = rows[0]!
    const isCounted = type === "favourite" || type === "reblog" || type === "follow_request" ||
      (type === "follow" && !followers.has(pair(fromAccountId, accountId)))
    if (isCounted && !wanted.has(what)) broken.push(`I9: a notification of ${what}, which does not exist`)
    const isOfStatus = statusId !== 0n && type !== "moderation_warning"
    if (isOfStatus && !facts.canSee(accountId, statusId) && facts.byId.get(statusId)?.deletedAt !== null) {
      broken.push(`I10: a notification of ${what}, which is deleted`)
    }
  }
  const streamed = new Map<bigint, number>()
  for (const { message } of world.busMessages) {
    if (message._tag !== "NotificationCreated") continue
    const times = (streamed.get(message.notificationId) ?? 0) + 1
    streamed.set(message.notificationId, times)
    if (times === 2) broken.push(`I9: the notification ${message.notificationId} is streamed twice`)
  }
  return [...broken, ...filteredMentions(aftermath, facts, streamed)]
}

/**
 * I22: a filtered mention is a request of its author, and was not streamed. A stranger's private mention is notified at
 * once only after its author was accepted.
 */
const filteredMentions = (
  { followers, outcomes, world }: Aftermath,
  { byId, rows: { requested, accepted, notifications } }: Facts,
  streamed: ReadonlyMap<bigint, number>
): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const known = new Set(followers)
  for (const { account, command } of [...outcomes, ...world.transfers.commands.values()]) {
    if (command._tag === "Follow") known.add(pair(account, command.target))
  }
  for (const { accountId, filtered, fromAccountId, id, statusId, type } of notifications) {
    if (type !== "mention") continue
    const [to, from] = [pair(accountId, fromAccountId), pair(fromAccountId, accountId)]
    if (filtered && !requested.has(from)) broken.push(`I22: ${id} is filtered, but ${from} has no request`)
    if (filtered && streamed.has(id)) broken.push(`I22: ${id} is filtered, but was streamed`)
    const status = byId.get(statusId)
    const isPrivate = status?.visibility === "direct" && status.inReplyToId === null
    if (isPrivate && !filtered && !known.has(to) && !accepted.has(from)) {
      broken.push(`I22: ${id} is not filtered, although ${to} is no follow`)
    }
  }
  return broken
}
