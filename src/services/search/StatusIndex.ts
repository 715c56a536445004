import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import { textColumns } from "../statuses/Written.ts"
import { mapWithYields } from "../text/Turns.ts"
import { SearchedStatus, tokenise } from "./StatusTokens.ts"
import * as Stems from "./Stems.ts"

/** Maximum posts per step: from the queue, and from the scan of an account whose posts are reindexed. */
const queuedMax = 200
const scannedMax = 200
/** Maximum wait of a search for a concurrent writer of the index, in milliseconds. */
const catchUpMillisMax = 250

const searchedRows = rowsOf(SearchedStatus)
const queuedRows = rowsOf(Schema.Struct({ place: Schema.BigInt, statusId: Schema.BigInt }))
const waitingRows = rowsOf(Schema.Struct({ waiting: Schema.Boolean }))
const scanRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, below: Schema.BigInt }))

/**
 * Search index of posts. It follows writes within a second or two: triggers fill a queue in the writer's transaction.
 * It has posts that someone may find: public ones of `indexable` accounts, and those that local users wrote, are
 * mentioned in, favourited, bookmarked, boosted or voted in. Deleted posts leave it with the deletion.
 */
export class StatusIndex extends Context.Service<StatusIndex, {
  /** Indexes part of the queue; returns true if there may be more. Any node may run it at any time. */
  readonly step: Effect.Effect<boolean, SqlError>
  /** Indexes the queue now if it is short, so that a search finds what its user has just written. */
  readonly catchUp: Effect.Effect<void>
}>()("murmuration/services/search/StatusIndex") {
  static readonly layer = Layer.effect(
    StatusIndex,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const stemsOf = Stems.make(sql)
      /** Languages that are in the table already. */
      const seen = new Set<string>()

      const isOurs = (account: string) => `EXISTS (SELECT FROM users u WHERE u.account_id = ${account} OFFSET 0)`
      const marked = (table: string) =>
        `EXISTS (SELECT FROM ${table} k WHERE k.status_id = s.id AND ${isOurs("k.account_id")} OFFSET 0)`
      const searched = sql.literal(
        `s.id, s.account_id, left(s.html, ${statusBytesMax}) AS html, ${
          textColumns.map((name) => `s.${name}`).join(", ")
        }, s.language, s.sensitive,
        s.in_reply_to_id IS NOT NULL OR s.in_reply_to_uri IS NOT NULL AS is_reply,
        EXISTS (SELECT FROM quotes q WHERE q.status_id = s.id OFFSET 0) AS is_quote,
        s.visibility = 'public' AND a.indexable AS findable,
        s.local OR ${["mentions", "favourites", "bookmarks", "poll_votes"].map(marked).join(" OR ")}
          OR EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id AND r.deleted_at IS NULL AND r.local OFFSET 0) AS involves_local,
        ARRAY(SELECT m.account_id::text FROM mentions m WHERE m.status_id = s.id AND NOT m.silent
          AND ${isOurs("m.account_id")}) AS mention_ids,
        ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id WHERE st.status_id = s.id) AS tags,
        ARRAY(SELECT f.type FROM media_attachments f WHERE f.id = ANY (s.media_ids)) AS media_types,
        ARRAY(SELECT coalesce(f.description, '') FROM media_attachments f WHERE f.id = ANY (s.media_ids) ORDER BY f.id) AS descriptions,
        (SELECT p.options FROM polls p WHERE p.status_id = s.id) AS options,
        (SELECT coalesce(c.details ->> 'type', 'link') FROM status_cards l JOIN preview_cards c ON c.id = l.card_id
          WHERE l.status_id = s.id) AS card_type`
      )

      /** Locks these posts and writes their index entries; returns those that it could lock. */
      const write = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
        // Writers wait for this lock; posts that are being edited or deleted are skipped and stay in the queue.
        const held = yield* idRows(sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[])
          AND reblog_of_id IS NULL AND deleted_at IS NULL ORDER BY id FOR SHARE SKIP LOCKED`)
        const heldIds = held.map(({ id }) => id)
        const statuses = yield* searchedRows(
          sql`SELECT ${searched} FROM statuses s JOIN accounts a ON a.id = s.account_id
          WHERE s.id = ANY (${heldIds}::bigint[])`
        )
        const found = statuses.filter(({ findable, involvesLocal }) => findable || involvesLocal)
        const documents = yield* mapWithYields(found, ({ html }) => html, tokenise)
        const stems = yield* stemsOf(documents.flatMap(({ words }) => words))
        const inIndex = new Set(documents.map(({ id }) => id))
        yield* sql`DELETE FROM search_documents
          WHERE status_id = ANY (${heldIds.filter((id) => !inIndex.has(id))}::bigint[])`
        const languages = new Set(documents.flatMap(({ stemmedIn }) => stemmedIn ?? []))
        const unseen = [...languages].filter((language) => !seen.has(language))
        if (unseen.length > 0) {
          yield* sql`INSERT INTO search_languages (language) SELECT unnest(${unseen.sort()}::text[]) ON CONFLICT DO NOTHING`
          yield* sql.afterCommit(Effect.sync(() => unseen.forEach((language) => seen.add(language))))
        }
        if (documents.length > 0) {
          const texts = yield* mapWithYields(documents, ({ html }) => html, ({ tokens }) => tokens(stems))
          yield* sql`INSERT INTO search_documents (status_id, tokens)
            SELECT d.id, d.tokens::tsvector FROM unnest(${documents.map(({ id }) => id)}::bigint[],
              ${texts}::text[]) AS d (id, tokens) ORDER BY d.id
            ON CONFLICT (status_id) DO UPDATE SET tokens = excluded.tokens`
        }
        return heldIds
      })

      const queued = Effect.fnUntraced(function*(others: "skipped" | "waited for") {
        if (others === "waited for") yield* sql`SET LOCAL lock_timeout = ${sql.literal(String(catchUpMillisMax))}`
        const rows = yield* queuedRows(sql`SELECT place, status_id FROM search_queue
          ORDER BY place LIMIT ${rowsMax(sql, queuedMax)} FOR UPDATE ${
          sql.literal(others === "skipped" ? "SKIP LOCKED" : "")
        }`)
        if (rows.length === 0) return false
        const statusIds = [...new Set(rows.map(({ statusId }) => statusId))]
        const held = new Set(yield* write(statusIds))
        const missed = statusIds.filter((id) => !held.has(id))
        // Posts that are being changed stay queued; deleted posts and ids that are not posts do not.
        const waiting = missed.length === 0 ? [] : yield* idRows(sql`SELECT id FROM statuses
          WHERE id = ANY (${missed}::bigint[]) AND reblog_of_id IS NULL AND deleted_at IS NULL`)
        const unindexed = new Set(waiting.map(({ id }) => id))
        const done = rows.filter(({ statusId }) => !unindexed.has(statusId)).map(({ place }) => place)
        yield* sql`DELETE FROM search_queue WHERE place = ANY (${done}::bigint[])`
        return rows.length === queuedMax && done.length > 0
      }, transaction(sql))

      const scanned = Effect.gen(function*() {
        const [scan] = yield* scanRows(sql`SELECT account_id, below FROM search_scans
          ORDER BY account_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED`)
        if (scan === undefined) return false
        const { accountId, below } = scan
        const everybody = accountId === 0n
        const rows = yield* idRows(
          sql`SELECT id FROM statuses WHERE id < ${below} AND deleted_at IS NULL AND reblog_of_id IS NULL
          ${everybody ? sql`` : sql`AND account_id = ${accountId}`} ORDER BY id DESC LIMIT ${rowsMax(sql, scannedMax)}`
        )
        const held = new Set(yield* write(rows.map(({ id }) => id)))
        const missed = rows.filter(({ id }) => !held.has(id)).map(({ id }) => id)
        yield* sql`INSERT INTO search_queue (status_id) SELECT unnest(${missed}::bigint[])`
        const last = rows.at(-1)
        yield* last === undefined || rows.length < scannedMax
          ? sql`DELETE FROM search_scans WHERE account_id = ${accountId}`
          : sql`UPDATE search_scans SET below = ${last.id} WHERE account_id = ${accountId}`
        return true
      }).pipe(transaction(sql))

      const due = waitingRows(
        sql`SELECT EXISTS (SELECT FROM search_queue) OR EXISTS (SELECT FROM search_scans) AS waiting`
      )
      const step = Effect.gen(function*() {
        // The queue is mostly empty; this check needs no transaction.
        if (!singleRow(yield* due).waiting) return false
        const [more, scanning] = [yield* queued("skipped"), yield* scanned]
        return more || scanning
      }).pipe(Effect.withSpan("StatusIndex.step"))

      const waiting = waitingRows(sql`SELECT EXISTS (SELECT FROM search_queue) AS waiting`)
      const catchUp = Effect.gen(function*() {
        if (!singleRow(yield* waiting).waiting) return
        yield* queued("waited for")
      }).pipe(
        Effect.catchCause((cause) => Effect.logDebug("the search index was not caught up before a search", cause)),
        Effect.withSpan("StatusIndex.catchUp")
      )
      return StatusIndex.of({ catchUp, step })
    })
  )
}
