import type { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"

/**
 * Kinds of changes that caches listen to. A kind with ids covers single rows, the others change as a whole. A `user`
 * changes with its state (confirmed, disabled); `moderation` is a staff action on an account, `card` a link preview,
 * `roles` the permissions of roles.
 */
export const rowKinds = ["account", "status", "relations", "moderation", "user", "card"] as const
export const wholeKinds = ["instance", "emojis", "domains", "ip_blocks", "roles", "spam_rules"] as const
type RowKind = (typeof rowKinds)[number]
type WholeKind = (typeof wholeKinds)[number]

/**
 * Tables from which cached values are derived, by the kind of change that a write of their rows is. The statement runs
 * within `Tracked`, which tells all nodes after the commit (test/architecture.test.ts).
 */
export const cachedTables: ReadonlyArray<readonly [kind: RowKind | WholeKind, tables: ReadonlyArray<string>]> = [
  ["account", ["accounts", "account_stats"]],
  ["card", ["preview_cards"]],
  ["domains", ["domain_allows", "domain_blocks"]],
  ["emojis", ["custom_emojis"]],
  ["instance", ["rules", "settings"]],
  ["ip_blocks", ["ip_blocks"]],
  ["relations", [
    "blocks",
    "conversation_mutes",
    "domain_mutes",
    "endorsements",
    "follow_requests",
    "follows",
    "mutes"
  ]],
  ["roles", ["roles"]],
  ["spam_rules", ["spam_rules"]],
  ["status", [
    "bookmarks",
    "emoji_reaction_counts",
    "favourites",
    "interaction_requests",
    "media_attachments",
    "mentions",
    "poll_votes",
    "polls",
    "quotes",
    "status_pins",
    "status_stats",
    "statuses",
    "tagged_collections"
  ]],
  ["user", ["users"]]
]

/** Ids of changed rows, known before the write or taken from its result. */
type Ids<A> = Iterable<bigint> | ((result: A) => Iterable<bigint>)

/**
 * Wraps a write of cached tables: all nodes are told that the rows changed after the commit of the current transaction,
 * with one message a kind however many writes there were, or right after the write outside of a transaction. Nothing is
 * told after a failure or a rollback.
 */
export interface Tracked {
  (kind: WholeKind): <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <Result = unknown>(
    kind: RowKind,
    ids: Ids<Result>
  ): <A extends Result, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Database and `Tracked` for functions outside of services. */
export interface RowWriter {
  readonly sql: SqlClient
  readonly tracked: Tracked
}
