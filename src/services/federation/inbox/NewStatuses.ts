import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { nullable, rowsOf } from "../../database/Rows.ts"
import { batched } from "../../database/TransactionBatch.ts"
import { defaultColumns, insertion, newRows, type NewStatus } from "../../statuses/StatusRows.ts"
import { written } from "../../statuses/Written.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

/** Remote post, and its parent if that is stored. */
interface NewPost {
  readonly accountId: bigint
  readonly note: ForeignNote
  readonly parentId: bigint | undefined
  readonly limited: boolean
}

/** Stored row, and the index of its post. */
const Stored = Schema.Struct({
  id: Schema.BigInt,
  /** Null if the post is not a reply, or its parent is missing or deleted. */
  parentId: Schema.NullOr(Schema.BigInt),
  place: Schema.Int
})
const storedRows = rowsOf(Stored)

/** Maximum characters of a missing parent's id. */
const parentCharactersMax = 2_000

const waitsFor = ({ inReplyTo }: ForeignNote): string | null =>
  inReplyTo !== undefined && inReplyTo.length <= parentCharactersMax ? inReplyTo : null

const rowOf = ({ accountId, limited, note, parentId }: NewPost): NewStatus => ({
  ...defaultColumns,
  ...written(note),
  accountId,
  local: false,
  uri: note.uri,
  url: note.url,
  html: note.html,
  visibility: note.visibility,
  limited,
  interactionPolicy: note.interactionPolicy,
  inReplyToId: parentId ?? null,
  inReplyToUri: waitsFor(note),
  createdAt: new Date(note.publishedMillis)
})

/**
 * Inserts remote posts with their counters, in batches. Returns the stored row; undefined if the post exists already.
 */
export const make = (sql: SqlClient) =>
  batched((posts: ReadonlyArray<NewPost>) =>
    Effect.map(
      storedRows(sql`
        WITH ${newRows(sql, posts.map(rowOf))},
        made AS (${
        insertion(sql, sql` LEFT JOIN statuses p ON p.id = fresh.in_reply_to_id AND p.deleted_at IS NULL`, {
          inReplyToId: sql`p.id`,
          inReplyToAccountId: sql`p.account_id`,
          inReplyToUri: sql`CASE WHEN p.id IS NULL THEN fresh.in_reply_to_uri END`,
          conversationId: sql`coalesce(p.conversation_id, fresh.id)`
        })
      }
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO NOTHING RETURNING id, in_reply_to_id),
        counted AS (INSERT INTO status_stats (status_id, stated_favourites, stated_reblogs)
          SELECT fresh.id, g.favourites, g.reblogs FROM fresh JOIN made ON made.id = fresh.id
          JOIN unnest(${nullable(posts.map(({ note }) => note.favourites ?? null))}::int[],
            ${nullable(posts.map(({ note }) => note.reblogs ?? null))}::int[]) WITH ORDINALITY
            AS g (favourites, reblogs, place) ON g.place = fresh.place)
        SELECT made.id, fresh.place::int, made.in_reply_to_id AS parent_id FROM fresh JOIN made ON made.id = fresh.id`),
      (rows) => {
        const stored = new Map(rows.map((row) => [row.place - 1, row]))
        return (_: NewPost, place: number) => stored.get(place)
      }
    ), "writes")
