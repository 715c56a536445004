import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { filterableTypes } from "./NotificationTypes.ts"

/*
 * The rules for notifications by the recipient's policy: accept, filter (shown on request), or drop. Drop wins over
 * filter. Senders accepted once are always accepted, and so are mentions by staff whose role is highlighted.
 */

export const policyDecisions = ["accept", "filter", "drop"] as const
export const PolicyDecision = Schema.Literals(policyDecisions)
export type PolicyDecision = typeof PolicyDecision.Type

/** Age up to which an account is new, and time a follower must have followed, in milliseconds. */
const dayMillis = 86_400_000
const newAccountMillis = 30 * dayMillis
const newFollowerMillis = 3 * dayMillis
/** Maximum distance from a reply up to a post of the recipient. */
const threadDepthMax = 100
/** Role bits that make a user staff. */
const staffPermissions = 1 | 1 << 4 | 1 << 10

/** Decisions where the owner has set none. */
const defaults = {
  notFollowing: "accept",
  notFollowers: "accept",
  newAccounts: "accept",
  privateMentions: "filter",
  limitedAccounts: "filter",
  bots: "accept",
  newConversations: "accept"
} as const

/** Row of `notification_policies`. */
export const NotificationPolicy = Schema.Struct({
  notFollowing: PolicyDecision,
  notFollowers: PolicyDecision,
  newAccounts: PolicyDecision,
  privateMentions: PolicyDecision,
  limitedAccounts: PolicyDecision,
  bots: PolicyDecision,
  newConversations: PolicyDecision
})
export type NotificationPolicy = typeof NotificationPolicy.Type
export const defaultPolicy: NotificationPolicy = defaults

const decisionOf = (column: string, otherwise: PolicyDecision) => `coalesce(p.${column}, '${otherwise}')`

/**
 * SQL expression: the decision about a row `r` (`account_id`, `from_id`, `type`, `status_id`) before it is a
 * notification; `accept` for types that no policy filters.
 */
export const policyDecision = (sql: SqlClient, at: Date): Fragment =>
  sql`CASE WHEN r.type NOT IN (${sql.literal(filterableTypes.map((type) => `'${type}'`).join(", "))}) THEN 'accept'
    ELSE coalesce((SELECT CASE
        WHEN NOT (v.said && ARRAY['filter', 'drop']) THEN 'accept'
        WHEN EXISTS (SELECT FROM notification_permissions WHERE account_id = r.account_id AND from_account_id = r.from_id)
          THEN 'accept'
        WHEN r.type = 'mention' AND EXISTS (SELECT FROM users staff JOIN roles role ON role.id = staff.role_id
          WHERE staff.account_id = r.from_id AND role.highlighted
            AND role.permissions & ${sql.literal(String(staffPermissions))} <> 0) THEN 'accept'
        WHEN 'drop' = ANY (v.said) THEN 'drop' ELSE 'filter' END
      FROM accounts sender LEFT JOIN notification_policies p ON p.account_id = r.account_id
      CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM follows
        WHERE account_id = r.account_id AND target_account_id = r.from_id) AS following OFFSET 0) k
      CROSS JOIN LATERAL (SELECT ARRAY[
        CASE WHEN NOT k.following THEN ${sql.literal(decisionOf("not_following", defaults.notFollowing))} END,
        CASE WHEN ${
    sql.literal(decisionOf("not_followers", defaults.notFollowers))
  } <> 'accept' AND NOT EXISTS (SELECT FROM follows
          WHERE account_id = r.from_id AND target_account_id = r.account_id
            AND created_at <= ${new Date(at.getTime() - newFollowerMillis)}) THEN p.not_followers END,
        CASE WHEN NOT k.following AND sender.created_at > ${new Date(at.getTime() - newAccountMillis)}
          THEN ${sql.literal(decisionOf("new_accounts", defaults.newAccounts))} END,
        CASE WHEN NOT k.following AND sender.silenced_at IS NOT NULL
          THEN ${sql.literal(decisionOf("limited_accounts", defaults.limitedAccounts))} END,
        CASE WHEN NOT k.following AND sender.bot THEN ${sql.literal(decisionOf("bots", defaults.bots))} END,
        CASE WHEN NOT k.following AND r.type = 'mention' AND EXISTS (SELECT FROM statuses message
          WHERE message.id = r.status_id AND message.visibility = 'direct' AND NOT ${isReplyToMember(sql)} OFFSET 0)
          THEN ${sql.literal(decisionOf("private_mentions", defaults.privateMentions))} END,
        CASE WHEN ${sql.literal(decisionOf("new_conversations", defaults.newConversations))} <> 'accept'
          AND NOT k.following AND r.type = 'mention' AND NOT ${isPart(sql)} THEN p.new_conversations END
      ] AS said OFFSET 0) v
      WHERE sender.id = r.from_id), 'accept') END`

/** Condition: the recipient has a post in the status's conversation; boosts do not count. */
const isPart = (sql: SqlClient): Fragment =>
  sql`EXISTS (SELECT FROM statuses message JOIN statuses part ON part.conversation_id = message.conversation_id
    WHERE message.id = r.status_id AND part.account_id = r.account_id AND part.reblog_of_id IS NULL
      AND part.deleted_at IS NULL OFFSET 0)`

/**
 * Condition: `message` is a reply, at a distance of up to `threadDepthMax`, to a post of the recipient that mentions
 * its author.
 */
const isReplyToMember = (sql: SqlClient): Fragment =>
  sql`EXISTS (WITH RECURSIVE thread (id, in_reply_to_id, account_id, depth) AS (
      SELECT s.id, s.in_reply_to_id, s.account_id, 1 FROM statuses s WHERE s.id = message.in_reply_to_id
      UNION ALL SELECT s.id, s.in_reply_to_id, s.account_id, depth + 1 FROM thread
        JOIN statuses s ON s.id = thread.in_reply_to_id WHERE depth < ${sql.literal(String(threadDepthMax))})
    SELECT FROM thread WHERE thread.account_id = r.account_id AND EXISTS (SELECT FROM mentions
      WHERE mentions.status_id = thread.id AND mentions.account_id = r.from_id))`
