import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { type Facts, pair } from "./Facts.ts"
import type { List } from "./Lists.ts"
import type { Performed } from "./Performed.ts"
import * as SpamRules from "./SpamRules.ts"

interface ModelStatus {
  readonly account: bigint
  readonly reblogOf: bigint | undefined
  text: string
  deleted: boolean
}

interface ModelFollow {
  readonly requested: boolean
  showReblogs: boolean
  notify: boolean
}

interface ScheduledStatus {
  readonly account: bigint
  readonly text: string
  /** Time at which it is due, in milliseconds since 1970. */
  dueAt: number
}

/** Milliseconds around the end of a mute in which nodes with clock skew may disagree. */
const doubtMillis = 4_000

/** Expected state of the accounts: replays the committed commands in commit order on plain sets. */
export class Model {
  readonly statuses = new Map<bigint, ModelStatus>()
  readonly follows = new Map<string, ModelFollow>()
  readonly blocks = new Set<string>()
  readonly favourites = new Set<string>()
  readonly pins = new Set<string>()
  /** Scheduled statuses by their ids, which are unrelated to the ids of the later posts. */
  private readonly scheduled = new Map<bigint, ScheduledStatus>()
  /** End of each mute, in milliseconds since 1970. */
  private readonly mutes = new Map<string, number>()
  /** Follows or requests that depend on which clock was used. */
  private readonly doubtful = new Set<string>()
  private readonly locked: ReadonlySet<bigint>
  /** Members of lists, by the list's owner. */
  private readonly members = new Set<string>()
  private readonly tagFollowers = new Set<bigint>()

  /** True if a spam rule limits the authors of matching posts: their follows become requests. */
  private readonly limits: boolean
  private readonly limited = new Set<bigint>()

  constructor(
    followers: Iterable<string>,
    locked: ReadonlySet<bigint>,
    lists: ReadonlyArray<List>,
    limits: boolean
  ) {
    this.limits = limits
    for (const { accountId, members } of lists) for (const member of members) this.members.add(pair(accountId, member))
    for (const follow of followers) this.follows.set(follow, { requested: false, showReblogs: true, notify: false })
    this.locked = locked
  }

  perform({ accountId: me, resultId, at }: Performed, command: Command) {
    const now = at.getTime()
    const target = "target" in command ? command.target : 0n
    const [there, back] = [pair(me, target), pair(target, me)]
    switch (command._tag) {
      case "Publish":
        // Refused by a spam rule.
        if (resultId === String(SpamRules.ruleId)) return
        if (this.limits && SpamRules.isSpam(command)) this.limited.add(me)
        this.statuses.set(BigInt(resultId ?? 0), {
          account: me,
          reblogOf: undefined,
          text: command.post.text,
          deleted: false
        })
        return
      case "Schedule":
        return void this.scheduled.set(BigInt(resultId ?? 0), {
          account: me,
          text: command.post.text,
          dueAt: command.scheduledAt
        })
      case "Reschedule": {
        const known = this.scheduled.get(command.scheduledId)
        if (known !== undefined) known.dueAt = command.scheduledAt
        return
      }
      case "CancelScheduled":
        return void this.scheduled.delete(command.scheduledId)
      case "Edit":
        this.change(command.statusId, (status) => status.text = command.text)
        return
      case "Delete":
        return this.remove(command.statusId)
      case "ReviewPost":
        return command.approved ? undefined : this.remove(command.statusId)
      case "Reblog": {
        const id = BigInt(resultId ?? 0)
        if (this.statuses.has(id)) return
        this.statuses.set(id, { account: me, reblogOf: this.original(command.statusId), text: "", deleted: false })
        return
      }
      case "Unreblog":
        for (const [id, { account, deleted, reblogOf }] of this.statuses) {
          if (account === me && reblogOf === command.statusId && !deleted) this.remove(id)
        }
        return
      case "Favourite":
        return void this.favourites.add(pair(me, this.original(command.statusId)))
      case "Unfavourite":
        return void this.favourites.delete(pair(me, command.statusId))
      case "Pin":
        return void this.pins.add(pair(me, command.statusId))
      case "Unpin":
        return void this.pins.delete(pair(me, command.statusId))
      case "Follow": {
        const known = this.follows.get(there)
        if (known !== undefined) {
          known.showReblogs = command.reblogs ?? known.showReblogs
          known.notify = command.notify ?? known.notify
          return
        }
        const mutedUntil = this.mutes.get(back) ?? 0
        if (!this.locked.has(target) && Math.abs(mutedUntil - now) < doubtMillis) this.doubtful.add(there)
        const requested = this.locked.has(target) || mutedUntil > now || this.limited.has(me)
        this.follows.set(there, { requested, showReblogs: command.reblogs ?? true, notify: command.notify ?? false })
        return
      }
      case "Unfollow":
        return this.unfollow(there)
      case "RejectFollow":
        return this.unfollow(back)
      case "FollowTag":
        return void this.tagFollowers.add(me)
      case "UnfollowTag":
        return void this.tagFollowers.delete(me)
      case "AuthorizeFollow": {
        const request = this.follows.get(back)
        if (request !== undefined) this.follows.set(back, { ...request, requested: false })
        return void this.doubtful.delete(back)
      }
      case "RemoveFollower":
        return this.unfollow(back)
      case "Block":
        this.blocks.add(there)
        this.unfollow(there)
        return this.unfollow(back)
      case "Unblock":
        return void this.blocks.delete(there)
      case "Mute":
        return void this.mutes.set(there, command.seconds > 0 ? now + command.seconds * 1000 : Infinity)
      case "Unmute":
        return void this.mutes.delete(there)
    }
  }

  /** Unfollowing removes the account from the owner's lists. */
  private unfollow(key: string) {
    this.follows.delete(key)
    this.members.delete(key)
  }

  private original(id: bigint) {
    return this.statuses.get(id)?.reblogOf ?? id
  }

  private change(id: bigint, how: (status: ModelStatus) => void) {
    const status = this.statuses.get(id)
    if (status !== undefined) how(status)
  }

  /** Deleting a status removes its pins and reblogs. */
  private remove(id: bigint) {
    this.change(id, (status) => status.deleted = true)
    for (const pin of this.pins) if (pin.endsWith(`>${id}`)) this.pins.delete(pin)
    for (const [reblog, { deleted, reblogOf }] of this.statuses) if (reblogOf === id && !deleted) this.remove(reblog)
  }

  /** Describes the differences between the database and the model. */
  differences({ rows }: Facts, now: number): ReadonlyArray<string> {
    const found: Array<string> = []
    for (const { accountId, createdAt, id, text } of rows.statuses) {
      const [key, due] = [...this.scheduled].find(([, one]) => one.account === accountId && one.text === text) ?? []
      if (key === undefined || due === undefined || this.statuses.has(id)) continue
      if (createdAt.getTime() < due.dueAt - doubtMillis) {
        found.push(`the scheduled status ${id} was posted before its time`)
      }
      this.scheduled.delete(key)
      this.statuses.set(id, { account: accountId, reblogOf: undefined, text, deleted: false })
    }
    for (const { text } of this.scheduled.values()) found.push(`the scheduled status "${text}" is missing`)
    const compare = (what: string, expected: Iterable<string>, actual: Iterable<string>) => {
      const [wanted, there] = [new Set(expected), new Set(actual)]
      for (const one of wanted) if (!there.has(one)) found.push(`${what} ${one} is missing`)
      for (const one of there) if (!wanted.has(one)) found.push(`${what} ${one} should not be there`)
    }
    const follow = (key: string, { notify, requested, showReblogs }: ModelFollow) =>
      this.doubtful.has(key) ? key : `${key} ${requested ? "requested" : `reblogs ${showReblogs} notify ${notify}`}`
    compare(
      "status",
      [...this.statuses].map(([id, s]) => `${id} of ${s.account} deleted ${s.deleted} "${s.text}"`),
      rows.statuses.map((s) => `${s.id} of ${s.accountId} deleted ${s.deletedAt !== null} "${s.text}"`)
    )
    compare("follow", [...this.follows].map(([key, value]) => follow(key, value)), [
      ...rows.follows.map((row) => follow(pair(row.accountId, row.targetAccountId), { ...row, requested: false })),
      ...[...rows.requests].map((key) => follow(key, { requested: true, showReblogs: true, notify: false }))
    ])
    compare(
      "list member",
      this.members,
      rows.lists.flatMap(({ accountId, members }) => members.map((member) => pair(accountId, member)))
    )
    compare("follower of the hashtag", [...this.tagFollowers].map(String), rows.tagFollowers.map(String))
    compare("block", this.blocks, rows.blocks)
    compare("mute", [...this.mutes].flatMap(([key, until]) => until > now ? key : []), rows.mutes)
    compare("favourite", this.favourites, rows.favourites.map((row) => pair(row.accountId, row.statusId)))
    compare("pin", this.pins, rows.pins.map((row) => pair(row.accountId, row.statusId)))
    return found
  }
}
