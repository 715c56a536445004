import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { cardCreator, CardRecord, cardRecord } from "../cards/Card.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { type DayOfUse, historyDays, historyOf } from "../statuses/Tags.ts"
import { dayOf } from "./TrendWindow.ts"

const recordRows = rowsOf(Schema.Struct({ id: Schema.BigInt, card: CardRecord }))
const dayRows = rowsOf(
  Schema.Struct({ cardId: Schema.BigInt, day: Schema.Int, uses: Schema.Int, accounts: Schema.Int })
)

/** A link with its preview card. */
interface LinkRecord {
  readonly id: bigint
  readonly card: CardRecord
  /** The last seven days, today first. */
  readonly history: ReadonlyArray<DayOfUse>
}

/** Reads trending links. */
export class LinkRecords extends Context.Service<LinkRecords, {
  /** Returns links in the order of `ids`, which are ids of cards; two queries. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<LinkRecord>>
}>()("murmuration/services/trends/LinkRecords") {
  static readonly layer = Layer.effect(
    LinkRecords,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const load = traced("LinkRecords.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const today = dayOf(yield* Clock.currentTimeMillis)
        const rows = yield* recordRows(sql`SELECT c.id, ${cardRecord(sql, "c.url")} AS card FROM preview_cards c
          ${cardCreator(sql)} WHERE c.id = ANY (${ids}::bigint[])`)
        const days = yield* dayRows(sql`SELECT card_id, day - DATE '1970-01-01' AS day, uses, accounts FROM card_days
          WHERE card_id = ANY (${ids}::bigint[]) AND day > DATE '1970-01-01' + ${today - historyDays}::int`)
        const used = new Map(days.map((day) => [`${day.cardId}:${day.day}`, day]))
        const cards = new Map(rows.map(({ card, id }) => [id, card]))
        return ids.flatMap((id) => {
          const card = cards.get(id)
          return card === undefined ? [] : [{ id, card, history: historyOf(today, (day) => used.get(`${id}:${day}`)) }]
        })
      }, Effect.orDie)
      return LinkRecords.of({ load })
    })
  )
}
