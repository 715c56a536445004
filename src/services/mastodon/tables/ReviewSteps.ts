import { Effect, Schema } from "effect"
import { rowsOf } from "../../database/Rows.ts"
import { Source } from "../Source.ts"
import type { TextRow } from "../Step.ts"

const reviewRows = rowsOf(
  Schema.Struct({ text: Schema.String, trendable: Schema.Boolean, reviewed: Schema.NullOr(Schema.String) })
)

interface Review {
  readonly trendable: boolean
  /** Time of the newest review, as the source writes it. */
  readonly reviewedAt: string | null
}

/**
 * Returns a function that replaces the reviews of staff of a batch by those of everything that is one row here: a refusal
 * of one refuses all. All reviews of the source are read for each batch, so that neither the order nor the size of
 * batches matters; each was made by hand, which bounds their number.
 */
export const make = (table: string, textColumn: string, keyOf: (text: string) => string | undefined, key: string) =>
  Effect.map(Source, (source) =>
    Effect.fnUntraced(function*(rows: ReadonlyArray<TextRow>) {
      const found = yield* reviewRows(source`SELECT t.${source(textColumn)} AS text, t.trendable,
        to_jsonb(t) ->> 'reviewed_at' AS reviewed FROM ${source(table)} t WHERE t.trendable IS NOT NULL`)
      const reviews = new Map<string, Review>()
      for (const { reviewed, text, trendable } of found) {
        const one = keyOf(text)
        if (one === undefined) continue
        const other = reviews.get(one)
        reviews.set(one, {
          trendable: trendable && other?.trendable !== false,
          reviewedAt: (reviewed ?? "") > (other?.reviewedAt ?? "") ? reviewed : other?.reviewedAt ?? null
        })
      }
      return rows.map((row): TextRow => {
        const review = reviews.get(row[key] ?? "")
        return {
          ...row,
          trendable: review === undefined ? null : String(review.trendable),
          ["reviewed_at"]: review?.reviewedAt ?? null
        }
      })
    }))
