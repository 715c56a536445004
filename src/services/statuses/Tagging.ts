import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Draft } from "./Drafts.ts"
import { isPublicRow } from "./Visibility.ts"

/** Precision of a tag's last use, in milliseconds. */
const tagUseMillis = 60_000

/**
 * Attaches hashtags to posts; the only place that does, for new and edited, local and remote posts. Returns CTEs that
 * begin with a comma, or nothing without tags. `post` is an SQL expression of one row or none: its `id`, `account_id`,
 * `visibility`, `created_at` and `local_only`. `millis` is the time of writing, in milliseconds since 1970.
 *
 * A tag counts once for each post, on the post's day, when it is first attached. Public posts of accounts that are not
 * limited count in the public history, as in Mastodon; posts that not everyone may see do not even change the time of
 * the tag's last use. Imported posts are `uncounted`.
 */
export const attached = (
  sql: SqlClient,
  post: Fragment,
  tags: Draft["tags"],
  millis: number,
  uncounted = false
): Fragment => {
  if (tags.length === 0) return sql``
  const at = new Date(millis)
  return sql`,
    post AS MATERIALIZED (SELECT id, account_id, (created_at AT TIME ZONE 'UTC')::date AS day,
      CASE WHEN ${isPublicRow(sql, "given")} THEN created_at END AS shown_at,
      ${
    uncounted ? sql`false` : counts(sql, "given")
  } AS counts FROM ${post} given (id, account_id, visibility, created_at, local_only)),
    wanted AS (
      SELECT w.* FROM post, unnest(${tags.map(({ name }) => name)}::text[], ${
    tags.map((tag) => tag.displayName)
  }::text[])
        AS w (name, display_name) ORDER BY name),
    -- Locked, as the new reference locks them: an unused tag may be removed now.
    known AS (SELECT t.id, t.name FROM wanted JOIN tags t ON t.name = wanted.name FOR KEY SHARE OF t),
    coined AS (
      INSERT INTO tags (id, name, display_name, created_at, last_status_at)
      SELECT next_id(${millis}), name, display_name, ${at}, (SELECT shown_at FROM post) FROM wanted
      WHERE name NOT IN (SELECT name FROM known)
      ON CONFLICT (name) DO UPDATE SET last_status_at = greatest(tags.last_status_at, excluded.last_status_at) RETURNING id),
    -- Everybody uses a tag of the hour; nobody waits for another one's transaction to say so.
    seen AS (
      UPDATE tags SET last_status_at = (SELECT shown_at FROM post) WHERE id IN (
        SELECT id FROM tags WHERE id IN (SELECT id FROM known) AND (SELECT shown_at FROM post) IS NOT NULL
          AND (last_status_at IS NULL OR last_status_at < ${new Date(
    millis - tagUseMillis
  )}) FOR NO KEY UPDATE SKIP LOCKED)),
    words AS (SELECT id FROM known UNION ALL SELECT id FROM coined),
    tagged AS (
      INSERT INTO statuses_tags (tag_id, status_id) SELECT words.id, post.id FROM words, post
      ON CONFLICT DO NOTHING RETURNING tag_id),
    used AS (
      INSERT INTO tag_days (tag_id, day, account_id) SELECT tag_id, day, account_id FROM tagged, post WHERE counts
      ON CONFLICT (tag_id, day, account_id) DO UPDATE SET uses = tag_days.uses + 1)`
}

/** Replaces the hashtags of an existing post; removed ones no longer count. */
export const replaced = (sql: SqlClient, id: bigint, tags: Draft["tags"], millis: number) =>
  sql`WITH gone AS (
      DELETE FROM statuses_tags st USING tags t WHERE st.status_id = ${id} AND t.id = st.tag_id
        AND t.name <> ALL (${tags.map(({ name }) => name)}::text[]) RETURNING st.tag_id),
    unused AS (
      UPDATE tag_days d SET uses = greatest(d.uses - 1, 0) FROM gone, statuses s
      WHERE s.id = ${id} AND d.tag_id = gone.tag_id AND d.account_id = s.account_id
        AND d.day = (s.created_at AT TIME ZONE 'UTC')::date AND ${counts(sql, "s")})${
    attached(
      sql,
      sql`(SELECT id, account_id, visibility, created_at, local_only FROM statuses WHERE id = ${id})`,
      tags,
      millis
    )
  }
    SELECT FROM gone`

/** Condition: a tag `t` of a post is not locked, so that updating its last use does not wait. */
const isUnlocked = (sql: SqlClient, id: bigint): Fragment =>
  sql`t.id IN (SELECT free.id FROM tags free WHERE free.id IN (SELECT tag_id FROM statuses_tags WHERE status_id = ${id})
    FOR NO KEY UPDATE SKIP LOCKED)`

/** Reverts the uses of a post that will be held; call it before its visibility changes. */
export const revertUses = (sql: SqlClient, id: bigint) =>
  sql`WITH unused AS (
      UPDATE tag_days d SET uses = greatest(d.uses - 1, 0) FROM statuses_tags st, statuses s
      WHERE s.id = ${id} AND st.status_id = s.id AND d.tag_id = st.tag_id AND d.account_id = s.account_id
        AND d.day = (s.created_at AT TIME ZONE 'UTC')::date AND ${counts(sql, "s")})
    UPDATE tags t SET last_status_at = (SELECT o.created_at FROM statuses_tags word JOIN statuses o ON o.id = word.status_id
        WHERE word.tag_id = t.id AND o.id <> s.id AND o.deleted_at IS NULL AND ${isPublicRow(sql, "o")}
        ORDER BY word.status_id DESC LIMIT 1)
      FROM statuses_tags st, statuses s
      WHERE s.id = ${id} AND st.status_id = s.id AND t.id = st.tag_id AND t.last_status_at = s.created_at
        AND ${isUnlocked(sql, id)}`

/** Counts the uses of a held post that was published. */
export const countUses = (sql: SqlClient, id: bigint) =>
  sql`WITH used AS (
      INSERT INTO tag_days (tag_id, day, account_id)
      SELECT st.tag_id, (s.created_at AT TIME ZONE 'UTC')::date, s.account_id
      FROM statuses_tags st JOIN statuses s ON s.id = st.status_id WHERE s.id = ${id} AND ${counts(sql, "s")}
      ON CONFLICT (tag_id, day, account_id) DO UPDATE SET uses = tag_days.uses + 1)
    UPDATE tags t SET last_status_at = greatest(t.last_status_at, s.created_at) FROM statuses_tags st, statuses s
      WHERE s.id = ${id} AND st.status_id = s.id AND t.id = st.tag_id AND ${isPublicRow(sql, "s")} AND ${
    isUnlocked(sql, id)
  }`

/** Returns the displayed names of hashtags that posts may not use (S-233). */
export const disallowed = (sql: SqlClient, tags: Draft["tags"]) =>
  sql`SELECT display_name FROM tags WHERE name = ANY (${
    tags.map(({ name }) => name)
  }::text[]) AND NOT usable ORDER BY name`

/** Condition: uses in a post count publicly; `post` is an alias with `account_id`, `visibility` and `local_only`. */
const counts = (sql: SqlClient, post: string): Fragment =>
  sql.literal(`(${post}.visibility = 'public' AND NOT ${post}.local_only AND NOT EXISTS (SELECT FROM accounts quiet
    WHERE quiet.id = ${post}.account_id AND quiet.silenced_at IS NOT NULL OFFSET 0))`)
