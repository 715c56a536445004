import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { filterableTypes } from "./NotificationTypes.ts"

/*
 * THE decision whether somebody hears of what another one did: at once, only when they ask (it is filtered), or never (it is
 * dropped). What drops wins over what filters. Who was accepted once is heard of always, and so is staff that is shown as such.
 */

export const policyDecisions = ["accept", "filter", "drop"] as const
export const PolicyDecision = Schema.Literals(policyDecisions)
export type PolicyDecision = typeof PolicyDecision.Type

/** How old an account is that counts as new, and how long a follower must have followed, in milliseconds. */
const dayMillis = 86_400_000
const newAccountMillis = 30 * dayMillis
const newFollowerMillis = 3 * dayMillis
/** Statuses that an answer may be away from one of the recipient's. */
const threadDepthMax = 100
/** Permissions that make somebody staff, as bits of a role. */
const staffPermissions = 1 | 1 << 4 | 1 << 10

/** What a policy says of whom it is about, where its owner has said nothing. */
const defaults = {
  notFollowing: "accept",
  notFollowers: "accept",
  newAccounts: "accept",
  privateMentions: "filter",
  limitedAccounts: "filter",
  bots: "accept",
  newConversations: "accept"
} as const

/** What a row of `notification_policies` says. */
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

const said = (column: string, otherwise: PolicyDecision) => `coalesce(p.${column}, '${otherwise}')`

/**
 * The decision about a row `r` (`account_id`, `from_id`, `type`, `status_id`) that is a notification to be, as an expression
 * of SQL. It is `accept` for types about which nobody decides.
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
        CASE WHEN NOT k.following THEN ${sql.literal(said("not_following", defaults.notFollowing))} END,
        CASE WHEN ${
    sql.literal(said("not_followers", defaults.notFollowers))
  } <> 'accept' AND NOT EXISTS (SELECT FROM follows
          WHERE account_id = r.from_id AND target_account_id = r.account_id
            AND created_at <= ${new Date(at.getTime() - newFollowerMillis)}) THEN p.not_followers END,
        CASE WHEN NOT k.following AND sender.created_at > ${new Date(at.getTime() - newAccountMillis)}
          THEN ${sql.literal(said("new_accounts", defaults.newAccounts))} END,
        CASE WHEN NOT k.following AND sender.silenced_at IS NOT NULL
          THEN ${sql.literal(said("limited_accounts", defaults.limitedAccounts))} END,
        CASE WHEN NOT k.following AND sender.bot THEN ${sql.literal(said("bots", defaults.bots))} END,
        CASE WHEN NOT k.following AND r.type = 'mention' AND EXISTS (SELECT FROM statuses message
          WHERE message.id = r.status_id AND message.visibility = 'direct' AND NOT ${answers(sql)} OFFSET 0)
          THEN ${sql.literal(said("private_mentions", defaults.privateMentions))} END,
        CASE WHEN ${sql.literal(said("new_conversations", defaults.newConversations))} <> 'accept'
          AND NOT k.following AND r.type = 'mention' AND NOT ${isPart(sql)} THEN p.new_conversations END
      ] AS said OFFSET 0) v
      WHERE sender.id = r.from_id), 'accept') END`

/** Condition: the recipient has a post in the status's conversation; boosts do not count. */
const isPart = (sql: SqlClient): Fragment =>
  sql`EXISTS (SELECT FROM statuses message JOIN statuses part ON part.conversation_id = message.conversation_id
    WHERE message.id = r.status_id AND part.account_id = r.account_id AND part.reblog_of_id IS NULL
      AND part.deleted_at IS NULL OFFSET 0)`

/** Whether `message` answers, at whatever distance, one of the recipient's in which they named its author. */
const answers = (sql: SqlClient): Fragment =>
  sql`EXISTS (WITH RECURSIVE thread (id, in_reply_to_id, account_id, depth) AS (
      SELECT s.id, s.in_reply_to_id, s.account_id, 1 FROM statuses s WHERE s.id = message.in_reply_to_id
      UNION ALL SELECT s.id, s.in_reply_to_id, s.account_id, depth + 1 FROM thread
        JOIN statuses s ON s.id = thread.in_reply_to_id WHERE depth < ${sql.literal(String(threadDepthMax))})
    SELECT FROM thread WHERE thread.account_id = r.account_id AND EXISTS (SELECT FROM mentions
      WHERE mentions.status_id = thread.id AND mentions.account_id = r.from_id))`
