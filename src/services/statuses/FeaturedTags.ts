import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { foreignFeaturedTagsMax } from "../instance/ForeignLimits.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"
import { isTagName } from "./Tags.ts"
import { isPublicRow } from "./Visibility.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))
const tagIdRows = rowsOf(Schema.Struct({ tagId: Schema.BigInt }))

/** Maximum age of a featured hashtag's figures, in milliseconds. */
const countedMillisMax = 60_000
/** Maximum suggested hashtags. */
const suggestionsMax = 10
/** Maximum posts whose hashtags are suggested, newest first. */
const suggestingMax = 400

/** A featured hashtag, with the number of public and unlisted posts that use it. */
export const FeaturedTag = Schema.Struct({
  id: Schema.BigInt,
  name: Schema.String,
  statusesCount: Schema.Int,
  lastStatusAt: Schema.NullOr(Timestamptz)
})
export type FeaturedTag = typeof FeaturedTag.Type
const featuredTagRows = rowsOf(FeaturedTag)

/** Featured hashtags of profiles; written in the transaction of the account's command. */
export class FeaturedTags extends Context.Service<FeaturedTags, {
  /** Returns featured hashtags, most used first. */
  readonly of: (accountId: bigint) => Effect.Effect<ReadonlyArray<FeaturedTag>>
  /** Returns which of the tags the account features. */
  readonly among: (accountId: bigint, tagIds: ReadonlyArray<bigint>) => Effect.Effect<ReadonlySet<bigint>>
  /** Returns ids of recently used tags that are not featured. */
  readonly suggestions: (accountId: bigint) => Effect.Effect<ReadonlyArray<bigint>>
  /**
   * Features a hashtag, up to `tagsMax`; returns the name if it is new. Fails for an invalid hashtag, or at the
   * maximum.
   */
  readonly add: (
    accountId: bigint,
    name: string,
    tagsMax: number
  ) => Effect.Effect<string | undefined, SqlError | Unprocessable>
  /** Removes a featured hashtag; returns the displayed name, undefined if it was not featured. */
  readonly remove: (accountId: bigint, name: string) => Effect.Effect<string | undefined, SqlError>
  /** Replaces the featured hashtags of a remote account by the first `foreignFeaturedTagsMax` valid ones. */
  readonly replace: (accountId: bigint, names: ReadonlyArray<string>) => Effect.Effect<void, SqlError>
}>()("murmuration/services/statuses/FeaturedTags") {
  static readonly layer = Layer.effect(
    FeaturedTags,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const insert = Effect.fnUntraced(function*(accountId: bigint, name: string) {
        const now = yield* Clock.currentTimeMillis
        return yield* sql`
          WITH coined AS (INSERT INTO tags (id, name, display_name, created_at)
            VALUES (next_id(${now}), ${normalise(bounded(name))}, ${name}, ${new Date(now)})
            ON CONFLICT (name) DO UPDATE SET display_name = tags.display_name RETURNING id)
          INSERT INTO featured_tags (id, account_id, tag_id, name)
          SELECT next_id(${now}), ${accountId}::bigint, id, ${name}::text FROM coined
          ON CONFLICT (account_id, tag_id) DO NOTHING RETURNING id`
      })

      const shown = (accountId: bigint) =>
        nameRows(sql`SELECT t.name FROM featured_tags f JOIN tags t ON t.id = f.tag_id
          WHERE f.account_id = ${accountId}`)

      const add = traced("FeaturedTags.add")(function*(accountId: bigint, given: string, tagsMax: number) {
        const name = given.trim().replace(/^#/, "")
        if (!isTagName(name)) return yield* validationFailed("Tag is invalid")
        const before = yield* shown(accountId)
        if (before.some((tag) => tag.name === normalise(bounded(name)))) return undefined
        if (before.length >= tagsMax) {
          return yield* validationFailed("You have already featured the maximum number of hashtags")
        }
        return (yield* insert(accountId, name)).length > 0 ? name : undefined
      })

      const remove = traced("FeaturedTags.remove")(function*(accountId: bigint, name: string) {
        const [removed] = yield* nameRows(sql`DELETE FROM featured_tags f USING tags t
          WHERE f.account_id = ${accountId} AND t.id = f.tag_id AND t.name = ${
          normalise(bounded(name))
        } RETURNING f.name`)
        return removed?.name
      })

      const replace = traced("FeaturedTags.replace")(function*(accountId: bigint, given: ReadonlyArray<string>) {
        const names = new Map(given.filter(isTagName).map((name) => [normalise(bounded(name)), name]))
        const replacements = [...names].slice(0, foreignFeaturedTagsMax)
        yield* sql`DELETE FROM featured_tags f USING tags t WHERE f.account_id = ${accountId} AND t.id = f.tag_id
          AND t.name <> ALL (${replacements.map(([name]) => name)}::text[])`
        yield* Effect.forEach(replacements, ([, name]) => insert(accountId, name), { discard: true })
      })

      const of = traced("FeaturedTags.of")(function*(accountId: bigint) {
        const now = yield* Clock.currentTimeMillis
        // Counting again may fail, as on a full disk: the reader then gets the counts of last time (F20).
        yield* Effect.ignore(
          sql`UPDATE featured_tags f SET statuses_count = c.uses, last_status_at = c.last, counted_at = ${new Date(now)}
          FROM featured_tags o, LATERAL (SELECT count(*)::int AS uses, max(s.created_at) AS last FROM statuses s
            WHERE s.account_id = o.account_id AND s.deleted_at IS NULL AND ${isPublicRow(sql, "s")}
              AND EXISTS (SELECT FROM statuses_tags st WHERE st.status_id = s.id AND st.tag_id = o.tag_id)) c
          WHERE f.id = o.id AND o.account_id = ${accountId}
            AND (o.counted_at IS NULL OR o.counted_at < ${new Date(now - countedMillisMax)})`
        )
        return yield* featuredTagRows(sql`SELECT id, name, statuses_count, last_status_at FROM featured_tags
          WHERE account_id = ${accountId} ORDER BY statuses_count DESC, id`)
      }, Effect.orDie)

      const among = traced("FeaturedTags.among")(function*(accountId: bigint, tagIds: ReadonlyArray<bigint>) {
        if (tagIds.length === 0) return new Set<bigint>()
        const rows = yield* tagIdRows(sql`SELECT tag_id FROM featured_tags
          WHERE account_id = ${accountId} AND tag_id = ANY (${tagIds}::bigint[])`)
        return new Set(rows.map(({ tagId }) => tagId))
      }, Effect.orDie)

      const suggestions = traced("FeaturedTags.suggestions")(function*(accountId: bigint) {
        const rows = yield* tagIdRows(sql`SELECT st.tag_id
          FROM (SELECT id FROM statuses WHERE account_id = ${accountId} AND deleted_at IS NULL
            ORDER BY id DESC LIMIT ${sql.literal(String(suggestingMax))}) s
          JOIN statuses_tags st ON st.status_id = s.id
          WHERE NOT EXISTS (SELECT FROM featured_tags f WHERE f.account_id = ${accountId} AND f.tag_id = st.tag_id)
          GROUP BY st.tag_id ORDER BY count(*) DESC, max(s.id) DESC LIMIT ${sql.literal(String(suggestionsMax))}`)
        return rows.map(({ tagId }) => tagId)
      }, Effect.orDie)

      return FeaturedTags.of({ add, among, of, remove, replace, suggestions })
    })
  )
}
