import { Clock, Context, Effect, Layer, Random, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { nullable, rowsOf } from "../database/Rows.ts"
import { atCommit } from "../database/TransactionBatch.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, type TraceParent } from "../runtime/TraceParents.ts"
import type { StatusLink } from "./StatusLinks.ts"

/** Maximum waiting fetches for one site; links beyond that get no card. */
const waitingPerSiteMax = 100
/**
 * Age after which a referenced card is fetched again, in milliseconds; shorter for a page without metadata, or a card
 * without its image.
 */
const freshMillis = 14 * 86_400_000
const incompleteFreshMillis = 86_400_000
/** Links in remote posts are fetched within this random delay, in milliseconds: all servers get such posts at once. */
const spreadMillis = 60_000

/** A status to link with its card. */
interface Linked {
  readonly statusId: bigint
  readonly link: StatusLink
  /** Time of the fetch, in milliseconds since 1970. */
  readonly dueMillis: number
  readonly traceParent: TraceParent
}

const linkedRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt, known: Schema.Boolean, pageKey: Schema.String }))

/** Cards of statuses; called in the transaction that writes the status. */
export class StatusCards extends Context.Service<StatusCards, {
  /** Attaches the card of its link to a new status; `fromElsewhere` if all servers get the status at once. */
  readonly attach: (statusId: bigint, link: StatusLink, isRemote: boolean) => Effect.Effect<void, SqlError>
  /** Replaces or removes the card of an edited status. */
  readonly replace: (
    statusId: bigint,
    link: StatusLink | undefined,
    isRemote: boolean
  ) => Effect.Effect<void, SqlError>
}>()("murmuration/services/cards/StatusCards") {
  static readonly layer = Layer.effect(
    StatusCards,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const asked = (linked: ReadonlyArray<Linked>): Fragment =>
        sql`unnest(${linked.map(({ statusId }) => statusId)}::bigint[], ${linked.map(({ link }) => link.url)}::text[],
          ${linked.map(({ link }) => link.pageUrl)}::text[], ${linked.map(({ link }) => link.pageKey)}::text[],
          ${linked.map(({ link }) => link.site)}::text[],
          ${linked.map(({ dueMillis }) => new Date(dueMillis))}::timestamptz[],
          ${nullable(linked.map(({ traceParent }) => traceParent))}::text[])
          AS a (status_id, url, page_url, page_key, site, due_at, trace_parent)`

      const link = Effect.fnUntraced(function*(linked: ReadonlyArray<Linked>) {
        const millis = yield* Clock.currentTimeMillis
        const at = new Date(millis)
        // Locks existing cards, so that none is swept before the status refers to it.
        return yield* linkedRows(sql`
          WITH asked AS MATERIALIZED (SELECT * FROM ${asked(linked)}),
          known AS MATERIALIZED (SELECT c.id, c.url_key FROM preview_cards c
            WHERE c.url_key IN (SELECT page_key FROM asked) FOR KEY SHARE),
          made AS (INSERT INTO preview_cards (id, url_key, url, site, due_at, created_at, trace_parent)
            SELECT next_id(${millis}), n.page_key, n.page_url, n.site, CASE WHEN (SELECT count(*) FROM (
                SELECT FROM preview_cards w WHERE w.site = n.site AND w.due_at IS NOT NULL LIMIT ${waitingPerSiteMax}) w
              ) < ${waitingPerSiteMax} THEN n.due_at END, ${at}, n.trace_parent
            FROM (SELECT DISTINCT ON (page_key) * FROM asked
              WHERE page_key NOT IN (SELECT url_key FROM known) ORDER BY page_key, due_at) n
            ON CONFLICT (url_key) DO NOTHING RETURNING id, url_key)
          INSERT INTO status_cards (status_id, card_id, url)
            SELECT a.status_id, c.id, a.url FROM asked a
            JOIN (SELECT id, url_key FROM known UNION ALL SELECT id, url_key FROM made) c ON c.url_key = a.page_key
          ON CONFLICT (status_id) DO UPDATE SET card_id = excluded.card_id, url = excluded.url
          RETURNING status_id, card_id IN (SELECT id FROM known) AS known, (SELECT page_key FROM asked
            WHERE asked.status_id = status_cards.status_id LIMIT 1) AS page_key`)
      })

      /** Schedules another fetch of stale pages, including those that were never fetched. */
      const refresh = (keys: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const millis = yield* Clock.currentTimeMillis
          const ago = (before: number) => new Date(millis - before)
          yield* sql`UPDATE preview_cards SET due_at = ${new Date(millis)}, tries = 0,
              trace_parent = ${yield* currentTraceParent} WHERE id IN (
            SELECT id FROM preview_cards WHERE url_key = ANY (${keys}::text[]) AND due_at IS NULL AND (fetched_at IS NULL
              OR fetched_at < CASE WHEN details IS NULL OR (image_url IS NOT NULL AND image_name IS NULL)
                THEN ${ago(incompleteFreshMillis)}::timestamptz ELSE ${ago(freshMillis)}::timestamptz END)
            FOR UPDATE SKIP LOCKED)`
        }).pipe(
          Effect.catchCause((cause) => Effect.logWarning("stale cards were not scheduled for a refetch", cause))
        )

      const write = atCommit(Effect.fnUntraced(function*(all: ReadonlyArray<Linked>) {
        // All writers lock rows in the same order.
        const linked = all.toSorted((a, b) => a.link.pageKey < b.link.pageKey ? -1 : 1)
        const first = yield* link(linked)
        const done = new Set(first.map(({ statusId }) => statusId))
        const missed = linked.filter(({ statusId }) => !done.has(statusId))
        // Another transaction created the card in the meantime; it is visible now.
        const rows = missed.length === 0 ? first : [...first, ...(yield* link(missed))]
        const keys = rows.flatMap(({ known, pageKey }) => known ? [pageKey] : [])
        if (keys.length > 0) yield* sql.afterCommit(Effect.asVoid(refresh(keys)))
      }))

      const attach = traced("StatusCards.attach")(
        function*(statusId: bigint, link: StatusLink, isRemote: boolean) {
          const now = yield* Clock.currentTimeMillis
          const delay = isRemote ? yield* Random.nextIntBetween(0, spreadMillis) : 0
          yield* write({ statusId, link, dueMillis: now + delay, traceParent: yield* currentTraceParent })
        }
      )
      return StatusCards.of({
        attach,
        replace: traced("StatusCards.replace")((statusId, link, isRemote) =>
          link === undefined
            ? Effect.asVoid(sql`DELETE FROM status_cards WHERE status_id = ${statusId}`)
            : attach(statusId, link, isRemote)
        )
      })
    })
  )
}
