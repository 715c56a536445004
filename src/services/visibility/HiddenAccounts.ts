import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/*
 * The rules for who hides whom: by a block, an unexpired mute, or a block of the other's domain. They exist in
 * TypeScript and in SQL; a property test holds both equal. In SQL, accounts are expressions of ids. Subqueries rename
 * the columns of their tables, so an expression never captures them by accident. They end in OFFSET 0, so that Postgres
 * looks up single rows and never hashes all blocks of a popular account.
 */

/** A mute; `expiresAt` is null if it never ends. */
interface Mute {
  readonly hidesNotifications: boolean
  /** Mentions in replies to the muter's own posts notify even though notifications are hidden. */
  readonly allowsReplies: boolean
  readonly expiresAt: Date | null
}

/** Relations of one account towards another. */
export interface HidingFacts {
  readonly blocks: boolean
  readonly mute: Mute | undefined
  /** Blocks the other account's domain. */
  readonly blocksDomain: boolean
  readonly follows: boolean
}

/** Returns true if the mute is in force; its row is removed shortly after it expired. */
const isInForce = (mute: Mute | undefined, now: Date): mute is Mute =>
  mute !== undefined && (mute.expiresAt === null || mute.expiresAt > now)

/** Returns true if lists and streams omit the other account. Its posts can still be read by id. */
export const hides = ({ blocks, blocksDomain, mute }: HidingFacts, now: Date): boolean =>
  blocks || blocksDomain || isInForce(mute, now)

/**
 * Returns true if a notification from the other account is hidden. `back` has the other account's relations towards the
 * recipient; `isReply` is true for a mention in a reply to one of the recipient's posts.
 */
export const hidesNotifications = (facts: HidingFacts, back: HidingFacts, now: Date, isReply: boolean): boolean =>
  facts.blocks || back.blocks ||
  (isInForce(facts.mute, now) && facts.mute.hidesNotifications && !(isReply && facts.mute.allowsReplies)) ||
  (facts.blocksDomain && !facts.follows)

/** Returns true if either account blocks the other or the other's domain: nothing passes between them. */
export const areBlockedEitherWay = (one: HidingFacts, other: HidingFacts): boolean =>
  one.blocks || other.blocks || one.blocksDomain || other.blocksDomain

/** Condition: a mute is in force, by the column of its end; `now` is a timestamp expression. */
const isUnexpired = (column: string, now: string): string => `(${column} IS NULL OR ${column} > ${now})`

/** Like `isUnexpired`, with the time as a parameter. */
export const isUnexpiredAt = (sql: SqlClient, column: string, now: Date): Fragment =>
  sql`(${sql.literal(column)} IS NULL OR ${sql.literal(column)} > ${now}::timestamptz)`

/** Condition: `account` blocks `target`. */
export const blocks = (sql: SqlClient, account: Fragment, target: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM (SELECT account_id AS hiding, target_account_id AS hidden FROM blocks) block
     WHERE block.hiding = ${account} AND block.hidden = ${target} OFFSET 0)`

/** Condition: either account blocks the other. */
export const eitherBlocks = (sql: SqlClient, one: Fragment, other: Fragment): Fragment =>
  sql`(${blocks(sql, one, other)} OR ${blocks(sql, other, one)})`

const muted = (sql: SqlClient, account: Fragment, target: Fragment, now: Date, condition: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM (SELECT account_id AS hiding, target_account_id AS hidden, hide_notifications, allow_replies, expires_at
      FROM mutes) mute
    WHERE mute.hiding = ${account} AND mute.hidden = ${target} ${condition}
    AND ${isUnexpiredAt(sql, "mute.expires_at", now)} OFFSET 0)`

/** Condition: `account` mutes `target`. */
export const mutes = (sql: SqlClient, account: Fragment, target: Fragment, now: Date): Fragment =>
  muted(sql, account, target, now, sql``)

/** Condition: `account` mutes a notification from `target`; `reply` is the SQL for `isReply` of `hidesNotifications`. */
export const mutesNotification = (
  sql: SqlClient,
  account: Fragment,
  target: Fragment,
  now: Date,
  reply: Fragment
): Fragment =>
  muted(sql, account, target, now, sql`AND mute.hide_notifications AND NOT (mute.allow_replies AND ${reply})`)

/**
 * Condition: a row of this alias (`type`, `status_id`, recipient's `account_id`) is a mention in a reply to one of the
 * recipient's posts.
 */
export const isReplyMention = (sql: SqlClient, row: string): Fragment =>
  sql`(${
    sql.literal(row)
  }.type = 'mention' AND EXISTS (SELECT FROM (SELECT reply.id AS told, parent.account_id AS author
      FROM statuses reply JOIN statuses parent ON parent.id = reply.in_reply_to_id) replies
    WHERE replies.told = ${sql.literal(row)}.status_id AND replies.author = ${sql.literal(row)}.account_id OFFSET 0))`

/**
 * SQL condition: the account with this alias belongs to a domain, by its handle or by its actor's host. An account
 * whose handle is unconfirmed, or confirmed by another domain, still belongs to its server.
 */
export const isOfDomain = (account: string, domain: string): string =>
  `(${account}.domain = ${domain} OR uri_host(${account}.uri) = ${domain})`

/**
 * SQL condition: `account` blocks the domain of `target`. Most accounts block no domain; then no other account is read.
 */
export const blocksDomain = (sql: SqlClient, account: Fragment, target: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM (SELECT hidden.domain FROM (SELECT account_id AS hiding, domain FROM domain_mutes) hidden
      WHERE hidden.hiding = ${account} OFFSET 0) domains
    CROSS JOIN LATERAL (SELECT FROM (SELECT id AS hidden, domain, uri FROM accounts) other
      WHERE other.hidden = ${target} AND ${sql.literal(isOfDomain("other", "domains.domain"))} OFFSET 0) found)`

/** `hides` in SQL. */
export const isHidden = (sql: SqlClient, viewer: Fragment, account: Fragment, now: Date): Fragment =>
  sql`(${blocks(sql, viewer, account)} OR ${mutes(sql, viewer, account, now)} OR ${blocksDomain(sql, viewer, account)})`

/** `areBlockedEitherWay` in SQL. */
export const isBlockedEitherWay = (sql: SqlClient, one: Fragment, other: Fragment): Fragment =>
  sql`(${eitherBlocks(sql, one, other)} OR ${blocksDomain(sql, one, other)} OR ${blocksDomain(sql, other, one)})`

/** `hidesNotifications` in SQL. */
export const isNotificationHidden = (
  sql: SqlClient,
  recipient: Fragment,
  sender: Fragment,
  now: Date,
  reply: Fragment
): Fragment =>
  sql`(${eitherBlocks(sql, recipient, sender)} OR ${mutesNotification(sql, recipient, sender, now, reply)}
    OR (${blocksDomain(sql, recipient, sender)} AND NOT EXISTS (SELECT FROM
      (SELECT account_id AS following, target_account_id AS followed FROM follows) follow
      WHERE follow.following = ${recipient} AND follow.followed = ${sender} OFFSET 0)))`

/* Set-based variants as SQL texts: accounts are expressions of `bigint[]`, `now` is one of a timestamp. */

/** Arrays of those in `accounts` that `viewer` hides, by reason. */
export const hiddenBy = (viewer: string, accounts: string, now: string) => {
  const of = (table: string, condition = "") =>
    `ARRAY(SELECT target_account_id FROM ${table} WHERE account_id = ${viewer} AND target_account_id = ANY (${accounts})${condition})`
  return {
    blocked: of("blocks"),
    muted: of("mutes", ` AND ${isUnexpired("expires_at", now)}`),
    domain: `ARRAY(SELECT a.id FROM (SELECT domain FROM domain_mutes WHERE account_id = ${viewer} OFFSET 0) d
      CROSS JOIN LATERAL (SELECT id FROM accounts WHERE id = ANY (${accounts}) AND ${
      isOfDomain("accounts", "d.domain")
    } OFFSET 0) a)`
  }
}

/** Array of those in `accounts` that `viewer` hides; checks domains only if an account may be `remote`. */
export const hiddenAmong = (viewer: string, accounts: string, now: string, remote: boolean): string => {
  const { blocked, domain, muted } = hiddenBy(viewer, accounts, now)
  return remote ? `${blocked} || ${muted} || ${domain}` : `${blocked} || ${muted}`
}

/** Arrays of those in `viewers` who hide one of `accounts`, by reason. */
export const hidingBy = (viewers: string, accounts: string, now: string) => {
  const of = (table: string, condition = "") =>
    `ARRAY(SELECT account_id FROM ${table} WHERE target_account_id = ANY (${accounts}) AND account_id = ANY (${viewers})${condition})`
  return {
    blocked: of("blocks"),
    muted: of("mutes", ` AND ${isUnexpired("expires_at", now)}`),
    domain: `ARRAY(SELECT account_id FROM domain_mutes
      WHERE domain IN (SELECT unnest(ARRAY[domain, uri_host(uri)]) FROM accounts WHERE id = ANY (${accounts}))
        AND account_id = ANY (${viewers}))`
  }
}

/** Array of those in `viewers` who block or mute one of `accounts`. */
export const avoidingAmong = (viewers: string, accounts: string, now: string): string => {
  const { blocked, muted } = hidingBy(viewers, accounts, now)
  return `${blocked} || ${muted}`
}
