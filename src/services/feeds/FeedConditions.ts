import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { isHidden } from "../HiddenAccounts.ts"
import { waitsForOthers } from "../statuses/HeldStatuses.ts"
import { isBroadcast, visibleTo } from "../statuses/Visibility.ts"

/*
 * Which statuses belong into a home and into a list, decided here for both directions: the newest for one reader, and the
 * readers of one status. Always over a status `s` and `o`, the original where `s` is a reblog (LEFT JOIN).
 */

/** Whom a status and its original mention, as an array of ids; where many readers are asked about, to be had once for all. */
export const mentionedIn = (sql: SqlClient): Fragment =>
  sql`ARRAY(SELECT mention.account_id FROM mentions mention WHERE mention.status_id IN (s.id, o.id))`

/**
 * What holds in every feed: the reader may see the status and hides neither its author nor whom it reblogs or mentions, who are
 * the accounts `mentioned`.
 */
const meets = (sql: SqlClient, reader: Fragment, now: Date, mentioned = mentionedIn(sql)): Fragment => {
  const welcome = (account: string) => sql`NOT ${isHidden(sql, reader, sql.literal(account), now)}`
  return sql`${visibleTo(sql, reader, "s")}
    AND (s.reblog_of_id IS NULL OR ${welcome("o.account_id")})
    AND ${welcome("s.account_id")}
    AND NOT EXISTS (SELECT FROM unnest(${mentioned}) AS named (account_id)
      WHERE named.account_id <> ${reader} AND ${isHidden(sql, reader, sql.literal("named.account_id"), now)} OFFSET 0)`
}

/** Replies are to the author or the reader, or to whom `heeded` says. */
const answers = (sql: SqlClient, reader: Fragment, heeded: Fragment): Fragment =>
  sql`(s.in_reply_to_id IS NULL OR s.in_reply_to_account_id IN (s.account_id, ${reader}) OR ${heeded})`

const answersFollowed = (sql: SqlClient, reader: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM follows answered WHERE answered.account_id = ${reader}
    AND answered.target_account_id = s.in_reply_to_account_id OFFSET 0)`

/** Languages and reblogs as the follow `f` of the author says; where there is none, all. */
const asFollowed = (sql: SqlClient): Fragment =>
  sql`((f.languages IS NULL OR coalesce(o.language, s.language) IS NULL
      OR coalesce(o.language, s.language) = ANY (f.languages))
    AND (s.reblog_of_id IS NULL OR f.show_reblogs IS NOT FALSE))`

/** The author is a member of the list. */
const byMember = (sql: SqlClient, list: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM list_accounts member WHERE member.list_id = ${list}
    AND member.account_id = s.account_id OFFSET 0)`

/** A hashtag of the status is a member of the list, and everybody may read it there. */
const withMember = (sql: SqlClient, list: Fragment): Fragment =>
  sql`(${isBroadcast(sql, "s")} AND EXISTS (SELECT FROM statuses_tags word
    JOIN list_tags member ON member.tag_id = word.tag_id WHERE word.status_id = s.id AND member.list_id = ${list} OFFSET 0))`

/**
 * Whether the home of `reader`, an SQL expression, leaves the status to an exclusive list that has its author or a hashtag of it
 * as a member; what is direct is no list's.
 */
export const isExcluded = (sql: SqlClient, reader: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM lists apart WHERE apart.account_id = ${reader} AND apart.exclusive AND s.visibility <> 'direct'
    AND (${byMember(sql, sql.literal("apart.id"))} OR ${withMember(sql, sql.literal("apart.id"))}) OFFSET 0)`

/**
 * Whether a home takes the status over a follow `f` of its author, and it waits for nobody's consent. As Mastodon's: replies to accounts that the reader does
 * not follow stay out, unless to the author or the reader; reblogs and languages as the follow says. Exclusive lists are
 * asked about apart (`isExcluded`), because most statuses are in no list. `mentioned` as with `mentionedIn`.
 */
export const isFollowed = (sql: SqlClient, now: Date, mentioned?: Fragment): Fragment => {
  const reader = sql.literal("f.account_id")
  return sql`(${meets(sql, reader, now, mentioned)} AND ${answers(sql, reader, answersFollowed(sql, reader))}
    AND ${asFollowed(sql)} AND NOT ${waitsForOthers(sql, reader, "s")})`
}

/** Whether the home of `reader`, an SQL expression, takes it over a hashtag that it follows. */
export const isTagged = (sql: SqlClient, reader: Fragment, now: Date): Fragment =>
  sql`(${isBroadcast(sql, "s")} AND s.account_id <> ${reader} AND ${meets(sql, reader, now)}
    AND NOT ${isExcluded(sql, reader)})`

/** Whether a list `l` takes it: over its author or a hashtag. `f` is its owner's follow of the author, where there is one. */
export const isListed = (sql: SqlClient, now: Date): Fragment => {
  const owner = sql.literal("l.account_id")
  const list = sql.literal("l.id")
  return sql`(s.visibility <> 'direct' AND ${meets(sql, owner, now)} AND ${
    answers(
      sql,
      owner,
      sql`CASE l.replies_policy WHEN 'followed' THEN ${answersFollowed(sql, owner)}
        WHEN 'list' THEN EXISTS (SELECT FROM list_accounts answered WHERE answered.list_id = l.id
          AND answered.account_id = s.in_reply_to_account_id OFFSET 0) ELSE false END`
    )
  } AND ((${asFollowed(sql)} AND ${byMember(sql, list)}) OR ${withMember(sql, list)}))`
}
