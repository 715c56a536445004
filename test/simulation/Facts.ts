import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../src/services/database/Ids.ts"
import type { RepliesPolicy } from "../../src/services/social/OwnedLists.ts"
import { canSee, type StatusFacts, type Visibility } from "../../src/services/statuses/Visibility.ts"
import { replying } from "./CommandPlan.ts"
import { tagName } from "./Lists.ts"

interface StatusRow {
  readonly id: bigint
  readonly accountId: bigint
  readonly visibility: Visibility
  readonly text: string
  readonly reblogOfId: bigint | null
  readonly inReplyToId: bigint | null
  readonly inReplyToAccountId: bigint | null
  readonly createdAt: Date
  readonly deletedAt: Date | null
  /** The status has the hashtag. */
  readonly tagged: boolean
  /**
   * An edit removed the hashtag, a block removed the parent, consent or a review is pending, or the author is limited.
   * Feeds reflect this only when they are rebuilt.
   */
  readonly changed: boolean
  /** The status waits for consent. */
  readonly waits: boolean
  readonly authorSuspended: boolean
  /** The author is limited, so the status is not listed under its hashtag. */
  readonly authorLimited: boolean
}

export interface ListRow {
  readonly id: bigint
  readonly accountId: bigint
  readonly repliesPolicy: RepliesPolicy
  readonly exclusive: boolean
  readonly members: ReadonlyArray<bigint>
  readonly tagged: boolean
}

interface MentionRow {
  readonly statusId: bigint
  readonly accountId: bigint
  readonly silent: boolean
  /** The mention is no longer in the text. */
  readonly quiet: boolean
}

export interface FollowRow {
  readonly accountId: bigint
  readonly targetAccountId: bigint
  readonly showReblogs: boolean
  readonly notify: boolean
}

export interface NotificationRow {
  readonly id: bigint
  readonly accountId: bigint
  readonly type: string
  readonly fromAccountId: bigint
  readonly statusId: bigint
  readonly reportId: bigint
  readonly filtered: boolean
}

type SenderPair = { readonly accountId: bigint; readonly fromAccountId: bigint }

type Pair = { readonly accountId: bigint; readonly targetAccountId: bigint }

export const pair = (from: bigint, to: bigint) => `${from}>${to}`
const senderPairs = (rows: ReadonlyArray<SenderPair>) =>
  new Set(rows.map((row) => pair(row.fromAccountId, row.accountId)))
const pairs = (rows: ReadonlyArray<Pair>) => new Set(rows.map((row) => pair(row.accountId, row.targetAccountId)))

/** Loads the whole database at rest, row by row, without the product's queries. */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, now: number) {
  const statuses = yield* sql<StatusRow>`SELECT id, account_id, visibility, text, reblog_of_id, in_reply_to_id,
    in_reply_to_account_id, created_at, deleted_at, EXISTS (SELECT FROM statuses_tags WHERE status_id = statuses.id) AS tagged,
    EXISTS (SELECT FROM status_edits e WHERE e.status_id = statuses.id AND e.text LIKE ${`%#${tagName}%`})
      OR (in_reply_to_id IS NULL AND (text LIKE ${`${replying}%`}
        OR EXISTS (SELECT FROM status_edits e WHERE e.status_id = statuses.id AND e.text LIKE ${`${replying}%`})))
      OR EXISTS (SELECT FROM interaction_requests r WHERE r.interaction_id = statuses.id AND r.state <> 'accepted')
      OR EXISTS (SELECT FROM held_posts h WHERE h.status_id = statuses.id)
      OR (SELECT a.silenced_at IS NOT NULL FROM accounts a WHERE a.id = account_id) AS changed,
    EXISTS (SELECT FROM interaction_requests r WHERE r.interaction_id = statuses.id AND r.state = 'pending') AS waits,
    (SELECT a.suspended_at IS NOT NULL FROM accounts a WHERE a.id = account_id) AS author_suspended,
    (SELECT a.silenced_at IS NOT NULL FROM accounts a WHERE a.id = account_id) AS author_limited
    FROM statuses WHERE NOT imported ORDER BY id`
  const mentions = yield* sql<MentionRow>`SELECT * FROM mentions`
  const followRows = yield* sql<FollowRow>`SELECT * FROM follows`
  const mutes = yield* sql<Pair & { expiresAt: Date | null; hideNotifications: boolean }>`SELECT * FROM mutes`
  return new Facts({
    statuses,
    mentions,
    follows: followRows,
    requests: pairs(yield* sql<Pair>`SELECT * FROM follow_requests`),
    blocks: pairs(yield* sql<Pair>`SELECT * FROM blocks`),
    mutes: pairs(mutes.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now)),
    favourites: yield* sql<{ accountId: bigint; statusId: bigint }>`SELECT * FROM favourites`,
    pins: yield* sql<{ accountId: bigint; statusId: bigint }>`SELECT * FROM status_pins`,
    notifications: yield* sql<NotificationRow>`SELECT * FROM notifications`,
    requested: senderPairs(yield* sql<SenderPair>`SELECT * FROM notification_requests`),
    accepted: senderPairs(yield* sql<SenderPair>`SELECT * FROM notification_permissions`),
    lists: yield* sql<ListRow>`SELECT id, account_id, replies_policy, exclusive,
      ARRAY(SELECT account_id FROM list_accounts WHERE list_id = lists.id ORDER BY 1) AS members,
      EXISTS (SELECT FROM list_tags WHERE list_id = lists.id) AS tagged FROM lists ORDER BY id`,
    tagFollowers: (yield* sql<{ accountId: bigint }>`SELECT account_id FROM tag_follows`).map(({ accountId }) =>
      accountId
    )
  })
})

export interface Rows {
  readonly statuses: ReadonlyArray<StatusRow>
  readonly mentions: ReadonlyArray<MentionRow>
  readonly follows: ReadonlyArray<FollowRow>
  readonly requests: ReadonlySet<string>
  readonly blocks: ReadonlySet<string>
  /** Active mutes. */
  readonly mutes: ReadonlySet<string>
  readonly favourites: ReadonlyArray<{ readonly accountId: bigint; readonly statusId: bigint }>
  readonly pins: ReadonlyArray<{ readonly accountId: bigint; readonly statusId: bigint }>
  readonly notifications: ReadonlyArray<NotificationRow>
  /** Pending notification requests, and accepted ones. */
  readonly requested: ReadonlySet<string>
  readonly accepted: ReadonlySet<string>
  readonly lists: ReadonlyArray<ListRow>
  /** Followers of the hashtag. */
  readonly tagFollowers: ReadonlyArray<bigint>
}

/** Derives the expected results from the rows by the product's rules, in plain code. */
export class Facts {
  readonly rows: Rows
  readonly byId: ReadonlyMap<bigint, StatusRow>
  private readonly follows: ReadonlyMap<string, FollowRow>
  private readonly mentioned: ReadonlySet<string>

  constructor(rows: Rows) {
    this.rows = rows
    this.byId = new Map(rows.statuses.map((status) => [status.id, status]))
    this.follows = new Map(rows.follows.map((row) => [pair(row.accountId, row.targetAccountId), row]))
    this.mentioned = new Set(rows.mentions.filter(({ silent }) => !silent).map((m) => pair(m.statusId, m.accountId)))
  }

  private factsOf(status: StatusRow): StatusFacts {
    const original = status.reblogOfId === null ? undefined : this.byId.get(status.reblogOfId)
    return {
      id: status.id,
      accountId: status.accountId,
      visibility: status.visibility,
      localOnly: false,
      deleted: status.deletedAt !== null,
      authorSuspended: status.authorSuspended,
      reblogOf: original === undefined ? undefined : this.factsOf(original)
    }
  }

  canSee(viewer: bigint | undefined, id: bigint) {
    const status = this.byId.get(id)
    if (status === undefined) return false
    const who = viewer ?? 0n
    return canSee(viewer === undefined ? undefined : AccountId.make(viewer), this.factsOf(status), {
      member: true,
      follows: (author) => this.follows.has(pair(who, author)),
      blockedBy: (author) => this.rows.blocks.has(pair(author, who)),
      mentionedIn: (status) => this.mentioned.has(pair(status, who))
    })
  }

  private hides(reader: bigint, account: bigint) {
    return this.rows.blocks.has(pair(reader, account)) || this.rows.mutes.has(pair(reader, account))
  }

  /** Returns the ids of a reader's home by Mastodon's rules, newest first. */
  homeOf(reader: bigint): ReadonlyArray<bigint> {
    return this.rows.statuses.filter((status) => this.isInHome(reader, status)).map(({ id }) => id).toReversed()
  }

  /** Returns the ids of a list, newest first. */
  listOf(list: ListRow): ReadonlyArray<bigint> {
    return this.rows.statuses.filter((status) => this.isInList(list, status)).map(({ id }) => id).toReversed()
  }

  private isInHome(reader: bigint, status: StatusRow) {
    if (!this.canSee(reader, status.id)) return false
    if (status.accountId === reader) return true
    // The deciding account finds the reply through its request.
    if (status.waits) return false
    const isExclusive = status.visibility !== "direct" &&
      this.rows.lists.some((list) => list.accountId === reader && list.exclusive && this.hasAsMember(list, status))
    if (isExclusive || !this.hidesNone(reader, status)) return false
    const repliedAccount = this.repliedAccount(reader, status)
    const followed = this.follows.has(pair(reader, status.accountId)) && this.asFollowed(reader, status) &&
      (repliedAccount === undefined || this.follows.has(pair(reader, repliedAccount)))
    return followed || (isTagged(status) && this.rows.tagFollowers.includes(reader))
  }

  private isInList(list: ListRow, status: StatusRow) {
    const { accountId: owner, members, repliesPolicy } = list
    if (status.visibility === "direct" || !this.canSee(owner, status.id) || !this.hidesNone(owner, status)) return false
    const repliedAccount = this.repliedAccount(owner, status)
    const isListedReply = repliedAccount === undefined ||
      (repliesPolicy === "followed" && this.follows.has(pair(owner, repliedAccount))) ||
      (repliesPolicy === "list" && members.includes(repliedAccount))
    return isListedReply && this.hasAsMember(list, status) &&
      (this.asFollowed(owner, status) || (list.tagged && isTagged(status)))
  }

  /** Returns true if the author or the hashtag is a member. */
  private hasAsMember({ members, tagged }: ListRow, status: StatusRow) {
    return members.includes(status.accountId) || (tagged && isTagged(status))
  }

  /** Returns the account that a status replies to, unless it is the author or the reader. */
  private repliedAccount(reader: bigint, { accountId, inReplyToAccountId, inReplyToId }: StatusRow) {
    const others = inReplyToId !== null && inReplyToAccountId !== accountId && inReplyToAccountId !== reader
    return others ? inReplyToAccountId ?? undefined : undefined
  }

  private asFollowed(reader: bigint, { accountId, reblogOfId }: StatusRow) {
    return reblogOfId === null || this.follows.get(pair(reader, accountId))?.showReblogs !== false
  }

  /** Returns true if the reader hides none of the accounts involved. */
  private hidesNone(reader: bigint, status: StatusRow) {
    const original = status.reblogOfId === null ? undefined : this.byId.get(status.reblogOfId)
    if (this.hides(reader, status.accountId)) return false
    if (original !== undefined && this.hides(reader, original.accountId)) return false
    return !this.rows.mentions.some(({ accountId, statusId }) =>
      (statusId === status.id || statusId === original?.id) && accountId !== reader && this.hides(reader, accountId)
    )
  }
}

/** Returns true if the hashtag's public timeline shows the status. */
const isTagged = ({ authorLimited, reblogOfId, tagged, visibility }: StatusRow) =>
  tagged && !authorLimited && reblogOfId === null && visibility === "public"
