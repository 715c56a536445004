import { Clock, Effect, Schema } from "effect"
import type { RowWriter } from "../../database/CachedTables.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { batched } from "../../database/TransactionBatch.ts"
import { currentTraceParent } from "../../runtime/TraceParents.ts"
import { hashedKey } from "../../secrets/HashedKey.ts"
import { mayReply } from "../../statuses/PolicyVerdicts.ts"
import { update } from "../../statuses/StatusRows.ts"

/** Maximum waiting quotes that are rechecked when their post arrives. */
const quotesMax = 1_000
/** Maximum replies that one transaction gives their parent; a job takes the rest. */
export const adoptedMax = 500
/** Maximum waiting activities that a post wakes; the others come at their own time. */
const wakesMax = 1_000

const Adopted = Schema.Struct({ id: Schema.BigInt, parentId: Schema.BigInt, uri: Schema.String })
type Adopted = typeof Adopted.Type
const adoptedRows = rowsOf(Adopted)

/**
 * Connects what arrived before the post that it names: replies, activities and quotes. Returns the replies by post id,
 * and whether there may be more.
 */
export const make = ({ sql, tracked }: RowWriter) =>
  batched(
    Effect.fnUntraced(function*(uris: ReadonlyArray<string>) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const rows = yield* tracked("status", (rows: ReadonlyArray<Adopted>) =>
        rows.flatMap(({ id, parentId }) => [id, parentId]))(adoptedRows(sql`
        WITH quoting AS (INSERT INTO errands (kind, subject_id, due_at, trace_parent)
          SELECT 'quote', q.status_id, ${now}, ${yield* currentTraceParent}::text FROM quotes q
          WHERE q.quoted_uri = ANY (${uris}::text[]) AND q.quoted_uri IS NOT NULL LIMIT ${
          sql.literal(String(quotesMax))
        }
          ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at, tries = 0,
            trace_parent = excluded.trace_parent),
        woken AS (UPDATE inbound_activities SET due_at = ${now} WHERE id IN (
          SELECT id FROM inbound_activities WHERE awaits = ANY (${
          uris.map(hashedKey)
        }::text[]) AND awaits IS NOT NULL AND outcome IS NULL AND due_at > ${now}
          ORDER BY id LIMIT ${rowsMax(sql, wakesMax)}))
        ${
          update(sql, { inReplyToId: sql`p.id`, inReplyToAccountId: sql`p.account_id`, inReplyToUri: null })
        } FROM (SELECT r.id AS reply_id, p.id, p.account_id, p.uri FROM statuses p JOIN statuses r
            ON r.in_reply_to_uri = p.uri AND r.id <> p.id AND r.in_reply_to_id IS NULL AND r.deleted_at IS NULL
          WHERE p.uri = ANY (${uris}::text[]) AND p.deleted_at IS NULL AND ${mayReply(sql, "r", "p")}
          ORDER BY r.id LIMIT ${rowsMax(sql, adoptedMax)}) p
        WHERE statuses.id = p.reply_id AND statuses.in_reply_to_id IS NULL AND statuses.deleted_at IS NULL
        RETURNING statuses.id, p.id AS parent_id, p.uri`))
      const byParent = Map.groupBy(rows, ({ uri }) =>
        uri)
      return (uri: string) => ({ replies: byParent.get(uri) ?? [], more: rows.length >= adoptedMax })
    }),
    "writes"
  )
