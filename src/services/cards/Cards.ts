import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { Fanouts } from "../intents/Fanouts.ts"
import { FileOwners } from "../media/FileOwners.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { TraceParent } from "../runtime/TraceParents.ts"
import { type Card, PersistedCard } from "./Card.ts"

/** Four tries within three hours. */
const cardBackoff: Backoff.Backoff = {
  baseMillis: 60_000,
  growth: { factor: 10 },
  jitter: 0.5,
  capMillis: 3 * 3_600_000,
  triesMax: 4
}
/** Lease of a claimed card, in milliseconds; longer than one fetch takes. */
const claimMillis = 90_000
/** Maximum concurrent fetches for one site. */
const claimedPerSiteMax = 2
/** Maximum waiting cards that one claim reads. */
const examinedMax = 500
/** Maximum statuses that are streamed for a new card, and their maximum age, in milliseconds. */
const streamedMax = 500
const streamedMillisMax = 86_400_000
/**
 * Maximum cards that one statement removes, maximum statements of one sweep, and age of an unused card, in
 * milliseconds.
 */
const sweptMax = 500
const batchesMax = 200
const unreferencedMillisMax = 7 * 86_400_000

/** A claimed page to fetch. */
const Claimed = Schema.Struct({
  id: Schema.BigInt,
  url: Schema.String,
  tries: Schema.Int,
  claimedUntil: Schema.instanceOf(Date),
  traceParent: TraceParent
})
export type ClaimedCard = typeof Claimed.Type
const claimedRows = rowsOf(Claimed)

/** Result of a fetch. `picture` is a stored file without an owner yet. */
interface FetchedCard {
  readonly card: Card
  readonly pageHost: string
  readonly creatorId: bigint | undefined
  readonly imageUrl: string | undefined
  readonly picture: { readonly name: string; readonly blurhash: string } | undefined
}

const replacedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, imageName: Schema.NullOr(Schema.String), first: Schema.Boolean })
)
const tellRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt, accountId: AccountId }))
const imageRows = rowsOf(Schema.Struct({ imageName: Schema.NullOr(Schema.String) }))

/** Queue of pages to fetch for cards: at least once, by one node at a time, two of a site concurrently. */
export class Cards extends Context.Service<Cards, {
  /** Claims up to `cardsMax` due cards until `claimedUntil`. */
  readonly claim: (cardsMax: number) => Effect.Effect<ReadonlyArray<ClaimedCard>, SqlError>
  /** Stores the card; statuses that waited for it are streamed. Returns the files that are no longer used. */
  readonly complete: (claimed: ClaimedCard, fetched: FetchedCard) => Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Ends the fetch: the page has no metadata, or may not be fetched; a previous card is kept. */
  readonly fail: (claimed: ClaimedCard) => Effect.Effect<void, SqlError>
  /** Schedules a retry, not before `notBeforeMillis` have passed; fails the card after the last try. */
  readonly retry: (claimed: ClaimedCard, notBeforeMillis?: number) => Effect.Effect<void, SqlError>
  /** Removes cards without a status; returns their files. */
  readonly sweep: Effect.Effect<ReadonlyArray<string>, SqlError>
}>()("murmuration/services/cards/Cards") {
  static readonly layerNoDeps = Layer.effect(
    Cards,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const fanouts = yield* Fanouts
      const fileOwners = yield* FileOwners
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const isClaimedBy = ({ claimedUntil, id }: ClaimedCard) => sql`id = ${id} AND claimed_until = ${claimedUntil}`

      const claim = traced("Cards.claim")(function*(cardsMax: number) {
        const at = yield* now
        // Two concurrent claims may exceed the limit of a site once, by up to twice.
        const rows = yield* claimedRows(sql`
          WITH busy AS (SELECT site, count(*) AS under_way FROM preview_cards WHERE claimed_until > ${at} GROUP BY site),
          due AS MATERIALIZED (
            SELECT id, site, due_at FROM preview_cards WHERE due_at <= ${at} ORDER BY due_at LIMIT ${
          rowsMax(sql, examinedMax)
        }),
          placed AS (SELECT due.id, due.due_at,
              row_number() OVER (PARTITION BY due.site ORDER BY due.due_at) + coalesce(busy.under_way, 0) AS place
            FROM due LEFT JOIN busy USING (site)),
          taken AS (SELECT id FROM preview_cards WHERE id IN (
              SELECT id FROM placed WHERE place <= ${claimedPerSiteMax} ORDER BY due_at LIMIT ${rowsMax(sql, cardsMax)})
            AND due_at <= ${at} FOR UPDATE SKIP LOCKED)
          UPDATE preview_cards SET tries = tries + 1, claimed_until = ${new Date(at.getTime() + claimMillis)},
            due_at = ${new Date(at.getTime() + claimMillis)}
          WHERE id IN (SELECT id FROM taken) RETURNING id, url, tries, claimed_until,
            trace_parent`)
        const last = rows.filter(({ tries }) => tries > cardBackoff.triesMax)
        // Every try of these ended with its node.
        yield* Effect.forEach(last, fail, { discard: true })
        return rows.filter(({ tries }) => tries <= cardBackoff.triesMax)
      })

      const fail = (claimed: ClaimedCard) =>
        Effect.flatMap(
          now,
          (at) =>
            Effect.asVoid(
              tracked("card", [claimed.id])(
                sql`UPDATE preview_cards SET due_at = NULL, claimed_until = NULL, tries = 0, fetched_at = ${at}
            WHERE ${isClaimedBy(claimed)}`
              )
            )
        )

      const complete = traced("Cards.complete")(
        function*(claimed: ClaimedCard, { card, creatorId, imageUrl, pageHost, picture }: FetchedCard) {
          const at = yield* now
          const details = yield* PersistedCard.encode(card)
          const [before] = yield* replacedRows(sql`SELECT id, image_name, details IS NULL AS first FROM preview_cards
            WHERE ${isClaimedBy(claimed)} FOR NO KEY UPDATE`)
          const offered = picture === undefined ? [] : [picture.name]
          // Claimed by another node in the meantime.
          if (before === undefined) return offered
          const isHeld = picture !== undefined && (yield* fileOwners.hold(offered, { cardId: claimed.id }))
          const old = before.imageName === null ? [] : [before.imageName]
          yield* fileOwners.release(old)
          yield* tracked("card", [claimed.id])(
            sql`UPDATE preview_cards SET due_at = NULL, claimed_until = NULL, tries = 0, fetched_at = ${at},
              details = ${details}::jsonb, page_host = ${pageHost}, creator_id = ${creatorId ?? null},
              image_url = ${imageUrl ?? null}, image_name = ${isHeld ? picture.name : null},
              blurhash = ${isHeld ? picture.blurhash : null}
            WHERE id = ${claimed.id}`
          )
          if (before.first) {
            const waiting = yield* tellRows(sql`SELECT s.id AS status_id, s.account_id FROM status_cards c
              JOIN statuses s ON s.id = c.status_id AND s.deleted_at IS NULL
                AND s.created_at > ${new Date(at.getTime() - streamedMillisMax)}
              WHERE c.card_id = ${claimed.id} ORDER BY c.status_id DESC LIMIT ${streamedMax}`)
            yield* Effect.forEach(
              waiting,
              ({ accountId, statusId }) => fanouts.enqueue(accountId, { _tag: "card", statusId }),
              { discard: true }
            )
          }
          return old
        },
        transaction(sql)
      )

      const retry = traced("Cards.retry")(function*(claimed: ClaimedCard, notBeforeMillis = 0) {
        const delay = yield* Backoff.next(cardBackoff, claimed.tries)
        if (delay === undefined) return yield* fail(claimed)
        const dueAt = new Date((yield* Clock.currentTimeMillis) + Math.max(delay, notBeforeMillis))
        yield* sql`UPDATE preview_cards SET due_at = ${dueAt}, claimed_until = NULL WHERE ${isClaimedBy(claimed)}`
      })

      const sweptBatch = Effect.gen(function*() {
        const before = new Date((yield* Clock.currentTimeMillis) - unreferencedMillisMax)
        const unreferenced = sql`NOT EXISTS (SELECT FROM status_cards s WHERE s.card_id = preview_cards.id)`
        const found = yield* idRows(sql`SELECT id FROM preview_cards WHERE ${unreferenced}
          AND coalesce(fetched_at, created_at) < ${before} LIMIT ${rowsMax(sql, sweptMax)} FOR UPDATE SKIP LOCKED`)
        if (found.length === 0) return []
        // A status may have referred to it before it was locked; none can afterwards.
        const deleted = yield* imageRows(
          tracked("card", found.map(({ id }) => id))(sql`DELETE FROM preview_cards
          WHERE id = ANY (${found.map(({ id }) => id)}::bigint[]) AND ${unreferenced} RETURNING image_name`)
        )
        return deleted
      }).pipe(transaction(sql))

      const sweep = Effect.gen(function*() {
        const files: Array<string> = []
        for (let batch = 0; batch < batchesMax; batch++) {
          const deleted = yield* sweptBatch
          files.push(...deleted.flatMap(({ imageName }) => imageName ?? []))
          if (deleted.length < sweptMax) break
        }
        return files
      }).pipe(Effect.withSpan("Cards.sweep"))

      return Cards.of({ claim, complete, fail: traced("Cards.fail")(fail), retry, sweep })
    })
  )
  static readonly layer = Cards.layerNoDeps.pipe(Layer.provide([Fanouts.layer, FileOwners.layer]))
}
