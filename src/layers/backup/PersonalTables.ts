/** Rows of a table that are about an account. */
interface PersonalTable {
  /** Columns with the account's id, one of which must match. */
  readonly by?: ReadonlyArray<string>
  /** Column that refers to an own row of another table of this list, by its `id`. */
  readonly via?: readonly [column: string, table: string]
  /** Columns that refer to accounts but are not searched, with the reason. */
  readonly not?: ReadonlyArray<readonly [column: string, reason: string]>
  /** Further condition of the rows that match by one of the columns. */
  readonly only?: readonly [column: string, condition: string]
  /** Columns that name others, or quote them, in rows whose `account_id` is another account. */
  readonly hidden?: ReadonlyArray<string>
}

const own: PersonalTable = { by: ["account_id"] }
const both: PersonalTable = { by: ["account_id", "target_account_id"] }
const ofStatus: PersonalTable = { via: ["status_id", "statuses"] }

const othersChoice = "the choice of another person, who is not told either"
/** Reason of columns that are left out of the rows, too: members do not learn which moderator acted. */
export const staffPart = "the part of a moderator; audit_log has own actions"

/** Tables with data about a person, as `account export` collects them. */
export const personalTables: ReadonlyMap<string, PersonalTable> = new Map<string, PersonalTable>([
  ["account_conversations", own],
  ["account_intents", own],
  ["account_notes", { by: ["account_id"], not: [["target_account_id", othersChoice]] }],
  ["account_stats", own],
  ["account_warnings", { by: ["target_account_id"], not: [["account_id", staffPart]] }],
  ["accounts", { by: ["id"], not: [["moved_to_id", "another account"]] }],
  ["active_days", own],
  ["agenda", own],
  ["announcement_dismissals", own],
  ["announcement_reactions", own],
  ["annual_reports", own],
  ["appeals", { by: ["account_id"], not: [["decided_by_account_id", staffPart]] }],
  ["archive_schedules", own],
  ["audit_log", {
    by: ["account_id", "target_id"],
    // Ids of other targets may be the same number: those from Mastodon begin at 1 in each table.
    only: ["target_id", "t.target_type = 'account'"],
    hidden: ["account_id", "username"]
  }],
  ["blocks", { by: ["account_id"], not: [["target_account_id", othersChoice]] }],
  ["bookmarks", own],
  ["canonical_email_blocks", own],
  ["collection_decisions", own],
  ["collection_items", own],
  ["collections", own],
  ["commands", own],
  ["conversation_mutes", own],
  ["devices", own],
  ["dismissed_suggestions", { by: ["account_id"], not: [["target_account_id", othersChoice]] }],
  ["domain_mutes", own],
  ["email_choices", own],
  ["email_digest_posts", own],
  ["email_digests", own],
  ["emoji_reactions", own],
  ["encrypted_messages", { by: ["from_account_id"] }],
  ["endorsements", both],
  ["errands", own],
  ["fanouts", own],
  ["favourites", own],
  ["featured_tags", own],
  ["filter_keywords", { via: ["filter_id", "filters"] }],
  ["filter_statuses", { via: ["filter_id", "filters"] }],
  ["filters", own],
  ["follow_requests", both],
  ["follows", both],
  ["form_pages", own],
  ["held_posts", own],
  ["identities", own],
  ["imported_statuses", own],
  ["inbound_activities", own],
  ["instance_notes", own],
  ["interaction_requests", both],
  ["invites", own],
  ["kept_collection_items", own],
  ["kept_collections", own],
  ["list_accounts", { via: ["list_id", "lists"], not: [["account_id", othersChoice]] }],
  ["list_tags", { via: ["list_id", "lists"] }],
  ["lists", own],
  ["mail_tokens", own],
  ["markers", own],
  ["media_attachments", own],
  ["mentions", own],
  ["moderation_notes", { by: ["target_account_id"], not: [["account_id", staffPart]] }],
  ["move_followers", { by: ["account_id", "follower_id"] }],
  ["moves", own],
  ["mutes", { by: ["account_id"], not: [["target_account_id", othersChoice]] }],
  ["new_members", { by: ["account_id"], not: [["follows", "another account"]] }],
  ["notification_permissions", { by: ["account_id"], not: [["from_account_id", othersChoice]] }],
  ["notification_policies", own],
  ["notification_requests", { by: ["account_id"], not: [["from_account_id", othersChoice]] }],
  ["notifications", { by: ["account_id"], not: [["from_account_id", "a notification of another person"]] }],
  ["oauth_grants", own],
  ["oauth_tokens", own],
  ["passkeys", own],
  ["pending_sign_ins", own],
  ["poll_votes", own],
  ["polls", ofStatus],
  ["popular_accounts", own],
  ["post_cleanups", own],
  ["push_subscriptions", own],
  ["quotes", { by: ["account_id", "quoted_account_id"] }],
  ["recovery_codes", own],
  ["relays", own],
  ["remote_actors", own],
  ["remote_keys", own],
  ["reports", {
    by: ["account_id", "target_account_id"],
    not: [["assigned_account_id", staffPart], ["action_taken_by_account_id", staffPart]],
    // A reported person does not learn who reported: `uri` names the reporter's server, and the comment is their words.
    hidden: ["account_id", "uri", "comment"]
  }],
  ["scheduled_statuses", own],
  ["sessions", own],
  ["severances", own],
  ["sign_in_places", own],
  ["spam_hits", own],
  ["spam_runs", own],
  ["spam_scores", own],
  ["spam_texts", own],
  ["status_aliases", ofStatus],
  ["status_cards", ofStatus],
  ["status_edits", ofStatus],
  ["status_pins", own],
  ["status_reviews", ofStatus],
  ["status_stats", ofStatus],
  ["status_trends", ofStatus],
  ["statuses", { by: ["account_id"], not: [["in_reply_to_account_id", "a post of another person"]] }],
  ["statuses_tags", ofStatus],
  ["stored_files", { by: ["account_id"], via: ["media_id", "media_attachments"] }],
  ["tag_days", own],
  ["tag_follows", own],
  ["tagged_collections", ofStatus],
  ["tombstones", own],
  ["transfers", own],
  ["undoable_activities", own],
  ["unknown_mentions", ofStatus],
  ["users", own],
  ["webhooks", own],
  ["weekly_logins", own]
])
/** Tables that refer to accounts or statuses without data about a person, with the reason. */
export const impersonalTables: ReadonlyMap<string, string> = new Map([
  ["actors", "the number of an activation"],
  ["email_subscriptions", "addresses of other people, who subscribed to the posts"],
  ["emoji_reaction_counts", "a count of other people's reactions"],
  ["preview_cards", "a linked page"],
  ["search_documents", "derived from the statuses"],
  ["search_scans", "the progress of indexing"]
])
/** Columns that are left out of an export, beside binary ones: they let their holder act as the person. */
export const secretColumns: ReadonlyArray<string> = ["password_hash", "p256dh", "auth"]
