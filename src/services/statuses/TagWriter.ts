import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { boundedCount } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { hasPrefix } from "../database/Prefixes.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { normalise } from "../html/HashtagNames.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { bounded } from "../text/BoundedText.ts"

const ReviewedTag = Schema.Struct({
  id: Schema.BigInt,
  name: Schema.String,
  displayName: Schema.String,
  /** Shown in search results. */
  listable: Schema.Boolean,
  /** Posts may use it. */
  usable: Schema.Boolean,
  /** Null until reviewed. */
  trendable: Schema.NullOr(Schema.Boolean),
  reviewedAt: Schema.NullOr(Timestamptz)
})
/** A hashtag as staff see it. */
type ReviewedTag = typeof ReviewedTag.Type
const tagRows = rowsOf(ReviewedTag)

/** Changes of a hashtag; absent fields are kept. */
interface TagChange {
  /** Name with different capitalisation. */
  readonly displayName?: string | undefined
  readonly listable?: boolean | undefined
  readonly trendable?: boolean | undefined
  readonly usable?: boolean | undefined
}

/** Filter for hashtags; all conditions must hold. */
interface TagQuery {
  /** Prefix of the name, in any case. */
  readonly name?: string | undefined
  readonly state?: typeof tagStates[number] | undefined
}

/** Filters: unreviewed, trendable, refused to trend, or not usable in posts. */
export const tagStates = ["unreviewed", "trendable", "refused", "unusable"] as const

/** Hashtags as managed by staff (S-233). */
export class TagWriter extends Context.Service<TagWriter, {
  readonly list: (query: TagQuery, page: Page) => Effect.Effect<ReadonlyArray<ReviewedTag>>
  /** Returns the number of matching hashtags, by `boundedCount`. */
  readonly total: (query: TagQuery) => Effect.Effect<number>
  /** Returns the hashtags that exist, unordered. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<ReviewedTag>>
  /** Changes a hashtag and marks it as reviewed. */
  readonly change: (
    by: AccountId,
    id: bigint,
    change: TagChange
  ) => Effect.Effect<void, NotAllowed | RecordNotFound | Unprocessable>
}>()("murmuration/services/statuses/TagWriter") {
  static readonly layer = Layer.effect(
    TagWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const standing = requirePermission(sql)
      const tags = sql`SELECT id, name, display_name, listable, usable, trendable, reviewed_at FROM tags`

      const change = Effect.fnUntraced(
        function*(by: AccountId, id: bigint, given: TagChange) {
          yield* standing(by, "manageTaxonomies")
          const [found] = yield* tagRows(sql`${tags} WHERE id = ${id} FOR UPDATE`)
          if (found === undefined) return yield* new RecordNotFound()
          const { id: _, name, reviewedAt: __, ...before } = found
          const displayName = given.displayName?.trim() || before.displayName
          if (normalise(bounded(displayName)) !== name) {
            return yield* validationFailed("Display name does not match the previous name")
          }
          const after = {
            displayName,
            listable: given.listable ?? before.listable,
            trendable: given.trendable ?? before.trendable,
            usable: given.usable ?? before.usable
          }
          yield* sql`UPDATE tags SET display_name = ${after.displayName}, listable = ${after.listable},
            trendable = ${after.trendable}, usable = ${after.usable},
            reviewed_at = ${new Date(yield* Clock.currentTimeMillis)} WHERE id = ${id}`
          yield* audit.record({ by, action: "update", target: { type: "tag", id, label: name }, before, after })
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )
      const states: Readonly<Record<typeof tagStates[number], Fragment>> = {
        unreviewed: sql`reviewed_at IS NULL`,
        trendable: sql`trendable`,
        refused: sql`NOT trendable`,
        unusable: sql`NOT usable`
      }
      // A prefix without letters or digits matches nothing.
      const namedLike = (start: string) => start === "" ? sql`FALSE` : hasPrefix(sql, "name", start)
      const matches = ({ name, state }: TagQuery) =>
        sql.and([
          sql`TRUE`,
          ...(name === undefined ? [] : [namedLike(normalise(bounded(name)))]),
          ...(state === undefined ? [] : [states[state]])
        ])
      return TagWriter.of({
        list: traced("TagWriter.list")((query, page) => {
          const { tail, where } = clauses(sql, "id", page)
          return Effect.map(
            tagRows(sql`${tags} WHERE ${where} AND ${matches(query)} ${tail}`),
            (rows) => newestFirst(page, rows)
          )
        }, Effect.orDie),
        total: traced("TagWriter.total")((query) => boundedCount(sql)(sql`SELECT FROM tags WHERE ${matches(query)}`)),
        load: traced("TagWriter.load")((ids) => tagRows(sql`${tags} WHERE id = ANY (${ids}::bigint[])`), Effect.orDie),
        change: traced("TagWriter.change")(change)
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
