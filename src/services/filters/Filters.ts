import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, required, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { type Filter, filterStatusesMax } from "./Filter.ts"
import { blankFilter, changed, type FilterChange, type FilterDraft } from "./FilterChanges.ts"
import { filtersWhere } from "./FilterRows.ts"

const keywordIdRows = rowsOf(Schema.Struct({ id: Schema.BigInt, place: Schema.BigInt }))

type Refused = RecordNotFound | Unprocessable

/** Selects one of the owner's filters and its change. */
type Choice = (filters: ReadonlyArray<Filter>) => Effect.Effect<readonly [Filter, FilterChange], Refused>

/**
 * Filters are private: no other account sees their effects, so this service writes them outside of the owner's actor.
 * Every change is published once to the owner's streams and to all nodes (S-262).
 */
export class Filters extends Context.Service<Filters, {
  /** Returns all filters, including expired ones, oldest first. */
  readonly list: (owner: AccountId) => Effect.Effect<ReadonlyArray<Filter>>
  readonly create: (owner: AccountId, change: FilterChange) => Effect.Effect<Filter, Refused>
  /** Applies all changes of a request, or none. */
  readonly update: (owner: AccountId, choose: Choice) => Effect.Effect<Filter, Refused>
  readonly remove: (owner: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound>
  /** Adds a status that the owner may see to a filter; returns the entry's id. */
  readonly addStatus: (owner: AccountId, filterId: bigint, statusId: bigint) => Effect.Effect<bigint, Refused>
  readonly removeStatus: (owner: AccountId, entryId: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/filters/Filters") {
  static readonly layer = Layer.effect(
    Filters,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast

      const all = (owner: AccountId) => filtersWhere(sql, sql`f.account_id = ${owner}`)

      /** Runs a transaction that locks the owner's filters. */
      const changing = <A, E>(owner: AccountId, work: Effect.Effect<A, E | SqlError>) =>
        sql`SELECT FROM users WHERE account_id = ${owner} FOR NO KEY UPDATE`.pipe(
          Effect.andThen(work),
          Effect.tap(() => sql.afterCommit(broadcast.publish({ _tag: "FiltersChanged", accountId: owner }))),
          transaction(sql),
          Effect.catchTag("SqlError", Effect.die)
        )

      /** Writes a draft's new and changed keywords, and deletes those that it lacks. */
      const writeKeywords = Effect.fnUntraced(
        function*(filterId: bigint, before: FilterDraft["keywords"], draft: FilterDraft, now: number) {
          const retained = new Map(draft.keywords.map((keyword) => [keyword.id, keyword]))
          const removedIds = before.flatMap(({ id }) => id === null || retained.has(id) ? [] : [id])
          if (removedIds.length > 0) yield* sql`DELETE FROM filter_keywords WHERE id = ANY (${removedIds}::bigint[])`
          const older = new Map(before.map((keyword) => [keyword.id, keyword]))
          const other = draft.keywords.filter(({ id, keyword, wholeWord }) => {
            const known = older.get(id)
            return known !== undefined && (known.keyword !== keyword || known.wholeWord !== wholeWord)
          })
          if (other.length > 0) {
            yield* sql`UPDATE filter_keywords k SET keyword = g.keyword, whole_word = g.whole_word
              FROM unnest(${other.map(({ id }) => id ?? 0n)}::bigint[], ${other.map(({ keyword }) => keyword)}::text[],
                ${other.map(({ wholeWord }) => wholeWord)}::boolean[]) AS g (id, keyword, whole_word) WHERE k.id = g.id`
          }
          const added = draft.keywords.filter(({ id }) => id === null)
          if (added.length === 0) {
            return draft.keywords.flatMap(({ id, ...rest }) => id === null ? [] : [{ id, ...rest }])
          }
          const rows = yield* keywordIdRows(sql`
            WITH given AS MATERIALIZED (SELECT next_id(${now}) AS id, g.* FROM unnest(
              ${added.map(({ keyword }) => keyword)}::text[], ${added.map(({ wholeWord }) => wholeWord)}::boolean[])
              WITH ORDINALITY AS g (keyword, whole_word, place)),
            written AS (INSERT INTO filter_keywords (id, filter_id, keyword, whole_word)
              SELECT id, ${filterId}, keyword, whole_word FROM given)
            SELECT id, place FROM given`)
          const ids = new Map(rows.map(({ id, place }) => [Number(place), id]))
          let place = 0
          return draft.keywords.map(({ id, ...rest }) => ({ id: id ?? required(ids.get(++place)), ...rest }))
        }
      )

      const create = traced("Filters.create")((owner: AccountId, change: FilterChange) =>
        changing(
          owner,
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const draft = yield* changed(blankFilter, change, yield* all(owner), now)
            const { action, contexts, expiresAt, title } = draft
            const { id } = singleRow(
              yield* idRows(sql`
                INSERT INTO filters (id, account_id, title, contexts, action, expires_at)
                VALUES (next_id(${now}), ${owner}, ${title}, ${contexts}::text[], ${action}, ${expiresAt}) RETURNING id`)
            )
            const keywords = yield* writeKeywords(id, [], draft, now)
            return { id, accountId: owner, action, contexts, expiresAt, title, keywords, statuses: [] }
          })
        )
      )

      const update = traced("Filters.update")((owner: AccountId, choose: Choice) =>
        changing(
          owner,
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const filters = yield* all(owner)
            const [before, change] = yield* choose(filters)
            const draft = yield* changed(before, change, filters.filter((filter) => filter !== before), now)
            const { action, contexts, expiresAt, title } = draft
            yield* sql`UPDATE filters SET title = ${title}, contexts = ${contexts}::text[], action = ${action},
              expires_at = ${expiresAt} WHERE id = ${before.id}`
            const keywords = yield* writeKeywords(before.id, before.keywords, draft, now)
            return { ...before, action, contexts, expiresAt, title, keywords }
          })
        )
      )

      const remove = traced("Filters.remove")((owner: AccountId, id: bigint) =>
        changing(
          owner,
          Effect.flatMap(
            idRows(sql`DELETE FROM filters WHERE id = ${id} AND account_id = ${owner} RETURNING id`),
            ([row]) => row === undefined ? new RecordNotFound() : Effect.void
          )
        )
      )

      const addStatus = traced("Filters.addStatus")((owner: AccountId, filterId: bigint, statusId: bigint) =>
        changing(
          owner,
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const filters = yield* all(owner)
            if (!filters.some(({ id }) => id === filterId)) return yield* new RecordNotFound()
            const [visible] = yield* idRows(sql`SELECT s.id FROM statuses s
              WHERE s.id = ${statusId} AND ${visibleTo(sql, owner, "s")}`)
            if (visible === undefined) return yield* new RecordNotFound()
            if (filters.reduce((sum, { statuses }) => sum + statuses.length, 0) >= filterStatusesMax) {
              return yield* validationFailed(`Statuses are too many (maximum is ${filterStatusesMax})`)
            }
            const [row] = yield* idRows(sql`
              INSERT INTO filter_statuses (id, filter_id, status_id) VALUES (next_id(${now}), ${filterId}, ${statusId})
              ON CONFLICT (filter_id, status_id) DO NOTHING RETURNING id`)
            return row === undefined ? yield* validationFailed("Status has already been taken") : row.id
          })
        )
      )

      const removeStatus = traced("Filters.removeStatus")((owner: AccountId, entryId: bigint) =>
        changing(
          owner,
          Effect.flatMap(
            idRows(sql`DELETE FROM filter_statuses WHERE id = ${entryId}
              AND filter_id IN (SELECT id FROM filters WHERE account_id = ${owner}) RETURNING id`),
            ([row]) => row === undefined ? new RecordNotFound() : Effect.void
          )
        )
      )

      return Filters.of({
        list: traced("Filters.list")((owner) => Effect.orDie(all(owner))),
        create,
        update,
        remove,
        addStatus,
        removeStatus
      })
    })
  )
}
