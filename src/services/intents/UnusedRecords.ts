import type { SqlClient } from "effect/sql/SqlClient"
import type { Tracked } from "../database/CachedTables.ts"
import type { Kind } from "./Sweeping.ts"
import { isUnreferenced, type ReferringColumns, unusedRows } from "./UnusedRows.ts"

/** Columns that refer to a remote account and are removed with it: data from its server, and counters. */
export const ownColumns: ReferringColumns = [
  "account_stats.account_id",
  "actors.account_id",
  "featured_tags.account_id",
  "popular_accounts.account_id",
  "remote_actors.account_id",
  "remote_keys.account_id",
  "spam_scores.account_id",
  "spam_texts.account_id",
  "undoable_activities.account_id"
]

/**
 * Columns that refer to an account and keep it: relations, posts, interactions, reports, notes. Frequent ones are
 * first.
 */
export const keepingColumns: ReferringColumns = [
  "follows.account_id",
  "follows.target_account_id",
  "statuses.account_id",
  "mentions.account_id",
  "favourites.account_id",
  "inbound_activities.account_id",
  "notifications.from_account_id",
  "tombstones.account_id",
  "account_conversations.account_id",
  "account_notes.account_id",
  "account_notes.target_account_id",
  "account_warnings.account_id",
  "account_warnings.target_account_id",
  "accounts.moved_to_id",
  "announcement_dismissals.account_id",
  "announcement_reactions.account_id",
  "appeals.account_id",
  "archive_schedules.account_id",
  "appeals.decided_by_account_id",
  "blocks.account_id",
  "blocks.target_account_id",
  "bookmarks.account_id",
  "canonical_email_blocks.account_id",
  "collection_decisions.account_id",
  "collection_items.account_id",
  "collections.account_id",
  "conversation_mutes.account_id",
  "dismissed_suggestions.account_id",
  "dismissed_suggestions.target_account_id",
  "domain_mutes.account_id",
  "emoji_reactions.account_id",
  "encrypted_messages.from_account_id",
  "endorsements.account_id",
  "endorsements.target_account_id",
  "filters.account_id",
  "follow_requests.account_id",
  "follow_requests.target_account_id",
  "form_pages.account_id",
  "held_posts.account_id",
  "imported_statuses.account_id",
  "instance_notes.account_id",
  "interaction_requests.account_id",
  "interaction_requests.target_account_id",
  "list_accounts.account_id",
  "lists.account_id",
  "markers.account_id",
  "media_attachments.account_id",
  "moderation_notes.account_id",
  "moderation_notes.target_account_id",
  "move_followers.account_id",
  "move_followers.follower_id",
  "moves.account_id",
  "mutes.account_id",
  "mutes.target_account_id",
  "new_members.follows",
  "notification_permissions.account_id",
  "notification_permissions.from_account_id",
  "notification_policies.account_id",
  "notification_requests.account_id",
  "notification_requests.from_account_id",
  "notifications.account_id",
  "poll_votes.account_id",
  "post_cleanups.account_id",
  "preview_cards.creator_id",
  "quotes.account_id",
  "quotes.quoted_account_id",
  "relays.account_id",
  "reports.account_id",
  "reports.action_taken_by_account_id",
  "reports.assigned_account_id",
  "reports.target_account_id",
  "scheduled_statuses.account_id",
  "severances.account_id",
  "spam_hits.account_id",
  "spam_runs.account_id",
  "status_pins.account_id",
  "stored_files.account_id",
  "tag_follows.account_id",
  "transfers.account_id",
  "users.account_id",
  "webhooks.account_id"
]

/** Columns that refer to a hashtag and keep it. */
export const tagColumns: ReferringColumns = [
  "statuses_tags.tag_id",
  "tag_follows.tag_id",
  "tag_days.tag_id",
  "collections.tag_id",
  "featured_tags.tag_id",
  "list_tags.tag_id",
  "tag_trends.tag_id"
]

/**
 * Returns the kinds of unused remote data: remote accounts that were not fetched for `days`, emoji and inboxes of
 * servers without a known account, and hashtags. Records with staff decisions are kept.
 */
export const unusedRecords = (
  sql: SqlClient,
  tracked: Tracked,
  days: number
): ReadonlyArray<Kind> => [
  unusedRows(sql, {
    table: "accounts",
    condition: (ago) =>
      sql`EXISTS (SELECT FROM remote_actors a WHERE a.account_id = t.id AND a.fetched_at < ${ago(days)} OFFSET 0)
        AND t.suspended_at IS NULL AND t.silenced_at IS NULL AND t.sensitized_at IS NULL
        AND ${isUnreferenced(sql, keepingColumns)}`,
    removing: tracked("account", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))
  }),
  unusedRows(sql, {
    table: "custom_emojis",
    condition: (ago) =>
      sql`t.domain IS NOT NULL AND NOT t.disabled AND coalesce(t.refreshed_at, t.created_at) < ${ago(days)}
        AND NOT EXISTS (SELECT FROM accounts a WHERE a.uri IS NOT NULL
          AND domain_key(uri_host(a.uri)) COLLATE "C" = domain_key(t.domain) OFFSET 0)
        AND NOT EXISTS (SELECT FROM emoji_reactions r WHERE r.custom_emoji_id = t.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM announcement_reactions r WHERE r.custom_emoji_id = t.id OFFSET 0)`
  }),
  unusedRows(sql, {
    table: "inboxes",
    condition: (ago) =>
      sql`coalesce(greatest(t.gone_at, t.refused_at) < ${ago(days)}, TRUE)
        AND NOT EXISTS (SELECT FROM remote_actors a WHERE a.inbox_id = t.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM remote_actors a WHERE a.inbox_url = t.url OFFSET 0)
        AND NOT EXISTS (SELECT FROM relays l WHERE l.inbox_id = t.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.inbox_id = t.id OFFSET 0)
        AND EXISTS (SELECT FROM hosts h WHERE h.id = t.host_id
          AND coalesce(h.succeeded_at < ${ago(days)}, TRUE) OFFSET 0)`
  }),
  unusedRows(sql, {
    table: "hosts",
    condition: () =>
      sql`t.paused_by IS DISTINCT FROM 'operator'
        AND NOT EXISTS (SELECT FROM inboxes i WHERE i.host_id = t.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.host_id = t.id OFFSET 0)`
  }),
  unusedRows(sql, {
    table: "tags",
    condition: (ago) =>
      sql`t.created_at < ${ago(days)} AND coalesce(t.last_status_at < ${ago(days)}, TRUE)
        AND t.listable AND t.usable AND t.trendable IS NULL AND t.reviewed_at IS NULL AND t.requested_review_at IS NULL
        AND ${isUnreferenced(sql, tagColumns)}`
  })
]
