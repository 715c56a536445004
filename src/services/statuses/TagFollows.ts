import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"

/** Maximum followed hashtags of an account; a rebuild of its home queries all of them. */
const followedTagsMax = 1_000

const tagIdRows = rowsOf(Schema.Struct({ tagId: Schema.BigInt }))
const listedRows = rowsOf(Schema.Struct({ cursor: Schema.BigInt, tagId: Schema.BigInt }))
type Listed = { readonly cursor: bigint; readonly tagId: bigint }

/** Followed hashtags; written in the transaction of the account's command. */
export class TagFollows extends Context.Service<TagFollows, {
  /** Returns which of the tags the account follows. */
  readonly among: (accountId: bigint, tagIds: ReadonlyArray<bigint>) => Effect.Effect<ReadonlySet<bigint>>
  readonly page: (accountId: bigint, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  /** Returns true if any account follows one of the hashtags or has it in a list; by normalised names. */
  readonly isAnyFollowed: (tags: ReadonlyArray<{ readonly name: string }>) => Effect.Effect<boolean, SqlError>
  /** Follows a hashtag; returns true if that is new. Fails at the maximum. */
  readonly add: (accountId: bigint, tagId: bigint) => Effect.Effect<boolean, SqlError | Unprocessable>
  /** Unfollows a hashtag; returns true if it was followed. */
  readonly remove: (accountId: bigint, name: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/TagFollows") {
  static readonly layer = Layer.effect(
    TagFollows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const among = traced("TagFollows.among")(function*(accountId: bigint, tagIds: ReadonlyArray<bigint>) {
        if (tagIds.length === 0) return new Set<bigint>()
        const rows = yield* tagIdRows(sql`SELECT tag_id FROM tag_follows
          WHERE account_id = ${accountId} AND tag_id = ANY (${tagIds}::bigint[])`)
        return new Set(rows.map(({ tagId }) => tagId))
      }, Effect.orDie)

      const page = traced("TagFollows.page")(function*(accountId: bigint, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* listedRows(sql`SELECT id AS cursor, tag_id FROM tag_follows
          WHERE account_id = ${accountId} AND ${where} ${tail}`)
        return newestFirst(page, rows)
      }, Effect.orDie)

      const isAnyFollowed = traced("TagFollows.isAnyFollowed")(
        function*(tags: ReadonlyArray<{ readonly name: string }>) {
          if (tags.length === 0) return false
          const found = yield* sql`SELECT FROM tags t WHERE t.name = ANY (${tags.map(({ name }) => name)}::text[])
          AND (EXISTS (SELECT FROM tag_follows f WHERE f.tag_id = t.id OFFSET 0)
            OR EXISTS (SELECT FROM list_tags m WHERE m.tag_id = t.id OFFSET 0)) LIMIT 1`
          return found.length > 0
        }
      )

      const add = traced("TagFollows.add")(function*(accountId: bigint, tagId: bigint) {
        const before = yield* tagIdRows(sql`SELECT tag_id FROM tag_follows WHERE account_id = ${accountId}`)
        if (before.some((followed) => followed.tagId === tagId)) return false
        if (before.length >= followedTagsMax) {
          return yield* validationFailed(`You cannot follow more than ${followedTagsMax} hashtags`)
        }
        const now = yield* Clock.currentTimeMillis
        yield* sql`INSERT INTO tag_follows (id, account_id, tag_id)
          VALUES (next_id(${now}), ${accountId}, ${tagId}) ON CONFLICT DO NOTHING`
        return true
      })

      const remove = traced("TagFollows.remove")(function*(accountId: bigint, name: string) {
        const removed = yield* idRows(sql`DELETE FROM tag_follows f USING tags t
          WHERE f.account_id = ${accountId} AND t.id = f.tag_id AND t.name = ${
          normalise(bounded(name))
        } RETURNING f.id`)
        return removed.length > 0
      })

      return TagFollows.of({ add, among, page, remove, isAnyFollowed: isAnyFollowed })
    })
  )
}
