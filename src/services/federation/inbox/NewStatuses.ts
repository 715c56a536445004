import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { nullable } from "../../Rows.ts"
import { batched } from "../../TransactionBatch.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

/** A post of another server as a row; its parent where that is here. */
interface NewStatus {
  readonly accountId: bigint
  readonly note: ForeignNote
  readonly parentId: bigint | undefined
  readonly limited: boolean
}

/** The row that was written. */
interface Stored {
  readonly id: bigint
  /** Null where it answers nothing that is here and not deleted. */
  readonly parentId: bigint | null
}

/** Characters of a parent's id that is remembered. */
const parentCharactersMax = 2_000

const waitsFor = ({ inReplyTo }: ForeignNote): string | null =>
  inReplyTo !== undefined && inReplyTo.length <= parentCharactersMax ? inReplyTo : null

/** Writes the rows of posts of other servers with their figures; answers what was stored, undefined where the post is here already. */
export const make = (sql: SqlClient) =>
  batched((all: ReadonlyArray<NewStatus>) => {
    const notes = all.map(({ note }) => note)
    return Effect.map(
      sql<Stored & { place: number }>`
        WITH fresh AS MATERIALIZED (SELECT next_id(g.millis) AS id, g.* FROM unnest(
          ${notes.map(({ publishedMillis }) => publishedMillis)}::bigint[],
          ${notes.map(({ publishedMillis }) => new Date(publishedMillis))}::timestamptz[],
          ${all.map(({ accountId }) => accountId)}::bigint[], ${notes.map(({ uri }) => uri)}::text[],
          ${notes.map(({ url }) => url)}::text[], ${notes.map(({ html }) => html)}::text[],
          ${notes.map(({ spoilerText }) => spoilerText)}::text[], ${notes.map(({ sensitive }) => sensitive)}::boolean[],
          ${notes.map(({ visibility }) => visibility)}::text[], ${
        nullable(notes.map(({ language }) => language))
      }::text[],
          ${nullable(all.map(({ parentId = null }) => parentId))}::bigint[], ${nullable(notes.map(waitsFor))}::text[],
          ${all.map(({ limited }) => limited)}::boolean[], ${
        nullable(notes.map(({ favourites = null }) => favourites))
      }::int[],
          ${nullable(notes.map(({ reblogs = null }) => reblogs))}::int[])
          WITH ORDINALITY AS g (millis, at, account_id, uri, url, html, spoiler_text, sensitive, visibility, language,
            parent_id, waits_for, limited, favourites, reblogs, place)),
        made AS (INSERT INTO statuses (id, account_id, uri, url, local, html, spoiler_text, sensitive, visibility, language,
            in_reply_to_id, in_reply_to_account_id, in_reply_to_uri, conversation_id, created_at, limited)
          SELECT f.id, f.account_id, f.uri, f.url, false, f.html, f.spoiler_text, f.sensitive, f.visibility, f.language,
            p.id, p.account_id, CASE WHEN p.id IS NULL THEN f.waits_for END, coalesce(p.conversation_id, f.id), f.at, f.limited
          FROM fresh f LEFT JOIN statuses p ON p.id = f.parent_id AND p.deleted_at IS NULL
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO NOTHING RETURNING id, in_reply_to_id),
        counted AS (INSERT INTO status_stats (status_id, stated_favourites, stated_reblogs)
          SELECT id, favourites, reblogs FROM fresh WHERE id IN (SELECT id FROM made))
        SELECT made.id, place::int, in_reply_to_id AS parent_id FROM fresh JOIN made ON made.id = fresh.id`,
      (rows) => {
        const stored = new Map(rows.map((row) => [row.place - 1, row]))
        return (_: NewStatus, place: number): Stored | undefined => stored.get(place)
      }
    )
  }, "writes")
