import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { waitsForOthers } from "../statuses/HeldStatuses.ts"
import { isBroadcast, visibleTo } from "../statuses/Visibility.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"

/*
 * Conditions for statuses in home and list feeds. They serve both directions: the newest statuses of one reader, and
 * the readers of one status. All of them are over a status `s` and `o`, the original if `s` is a boost (LEFT JOIN).
 */

/** SQL array of the accounts that a status and its original mention; compute it once for many readers. */
export const mentionedIn = (sql: SqlClient): Fragment =>
  sql`ARRAY(SELECT mention.account_id FROM mentions mention WHERE mention.status_id IN (s.id, o.id))`

/**
 * Conditions of every feed: the status was posted here, the reader may see it, and does not hide its author, the boosted
 * author or the `mentioned` accounts.
 */
const showing = (sql: SqlClient, reader: Fragment, now: Date, mentioned = mentionedIn(sql)) => {
  const isNotHidden = (account: string) => sql`NOT ${isHidden(sql, reader, sql.literal(account), now)}`
  return {
    posted: sql`NOT s.imported`,
    visible: visibleTo(sql, reader, "s"),
    boostedAuthor: sql`(s.reblog_of_id IS NULL OR ${isNotHidden("o.account_id")})`,
    author: isNotHidden("s.account_id"),
    mentioned: sql`NOT EXISTS (SELECT FROM unnest(${mentioned}) AS named (account_id)
      WHERE named.account_id <> ${reader} AND ${isHidden(sql, reader, sql.literal("named.account_id"), now)} OFFSET 0)`
  }
}

/** Condition: all of the conditions hold. */
const all = (sql: SqlClient, conditions: Readonly<Record<string, Fragment>>): Fragment =>
  Object.values(conditions).reduce((some, one) => sql`${some} AND ${one}`)

const isShownTo = (sql: SqlClient, reader: Fragment, now: Date): Fragment => all(sql, showing(sql, reader, now))

/** SQL condition: not a reply, or a reply to the author or the reader, or one that meets the condition `otherwise`. */
const isReplyShown = (sql: SqlClient, reader: Fragment, otherwise: Fragment): Fragment =>
  sql`(s.in_reply_to_id IS NULL OR s.in_reply_to_account_id IN (s.account_id, ${reader}) OR ${otherwise})`

/** Condition: a reply to an account that the reader follows. */
const isReplyToFollowed = (sql: SqlClient, reader: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM follows parent WHERE parent.account_id = ${reader}
    AND parent.target_account_id = s.in_reply_to_account_id OFFSET 0)`

/** Conditions: the follow `f` of the author allows the language and boosts; true without a follow. */
const followAllows = (sql: SqlClient) => ({
  language: sql`(f.languages IS NULL OR coalesce(o.language, s.language) IS NULL
      OR coalesce(o.language, s.language) = ANY (f.languages))`,
  boosts: sql`(s.reblog_of_id IS NULL OR f.show_reblogs IS NOT FALSE)`
})

/** Condition: the author is a member of the list. */
const byMember = (sql: SqlClient, list: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM list_accounts member WHERE member.list_id = ${list}
    AND member.account_id = s.account_id OFFSET 0)`

/** Condition: a hashtag of the status is a member of the list, and the status is public. */
const withMember = (sql: SqlClient, list: Fragment): Fragment =>
  sql`(${isBroadcast(sql, "s")} AND EXISTS (SELECT FROM statuses_tags word
    JOIN list_tags member ON member.tag_id = word.tag_id WHERE word.status_id = s.id AND member.list_id = ${list} OFFSET 0))`

/**
 * Condition: an exclusive list of `reader`, an SQL expression, has the author or a hashtag of the status as a member,
 * so the home omits it. Direct posts are not affected by lists.
 */
export const isExcluded = (sql: SqlClient, reader: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM lists own_list WHERE own_list.account_id = ${reader} AND own_list.exclusive
    AND s.visibility <> 'direct'
    AND (${byMember(sql, sql.literal("own_list.id"))} OR ${withMember(sql, sql.literal("own_list.id"))}) OFFSET 0)`

/**
 * Conditions under which the home shows the status by a follow `f` of its author, by name: `isFollowed` is all of
 * them, and `HomeReasons` says which one does not hold.
 */
export const followedConditions = (sql: SqlClient, now: Date, mentioned?: Fragment) => {
  const reader = sql.literal("f.account_id")
  return {
    ...showing(sql, reader, now, mentioned),
    reply: isReplyShown(sql, reader, isReplyToFollowed(sql, reader)),
    ...followAllows(sql),
    consent: sql`NOT ${waitsForOthers(sql, reader, "s")}`
  }
}

/**
 * Condition: the home shows the status by a follow `f` of its author, and no consent is pending. As in Mastodon,
 * replies to accounts that the reader does not follow are left out, except to the author or the reader. The follow
 * decides on boosts and languages. Exclusive lists are checked separately (`isExcluded`), because most statuses are in
 * no list. `mentioned` is as in `mentionedIn`.
 */
export const isFollowed = (sql: SqlClient, now: Date, mentioned?: Fragment): Fragment =>
  sql`(${all(sql, followedConditions(sql, now, mentioned))})`

/** Condition: the home of `reader`, an SQL expression, shows the status by a followed hashtag. */
export const isTagged = (sql: SqlClient, reader: Fragment, now: Date): Fragment =>
  sql`(${isBroadcast(sql, "s")} AND s.account_id <> ${reader} AND ${isShownTo(sql, reader, now)}
    AND NOT ${isExcluded(sql, reader)})`

/**
 * Condition: a list `l` shows the status by its author or a hashtag. `f` is the owner's follow of the author, if any.
 */
export const isListed = (sql: SqlClient, now: Date): Fragment => {
  const owner = sql.literal("l.account_id")
  const list = sql.literal("l.id")
  return sql`(s.visibility <> 'direct' AND ${isShownTo(sql, owner, now)} AND ${
    isReplyShown(
      sql,
      owner,
      sql`CASE l.replies_policy WHEN 'followed' THEN ${isReplyToFollowed(sql, owner)}
        WHEN 'list' THEN EXISTS (SELECT FROM list_accounts parent WHERE parent.list_id = l.id
          AND parent.account_id = s.in_reply_to_account_id OFFSET 0) ELSE false END`
    )
  } AND ((${all(sql, followAllows(sql))} AND ${byMember(sql, list)}) OR ${withMember(sql, list)}))`
}
