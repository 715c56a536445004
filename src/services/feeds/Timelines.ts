import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { traced } from "../runtime/Traced.ts"
import { broadcastTo } from "../statuses/Visibility.ts"
import { bounded } from "../text/BoundedText.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"

const taggedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, name: Schema.String }))

/** Selects public statuses; both or neither of `local` and `remote` means all. */
export interface Selection {
  readonly local: boolean
  readonly remote: boolean
  readonly onlyMedia: boolean
}

/** Hashtags of a timeline: one of `name` and `any`, all of `all`, none of `none`; normalised here. */
interface TagSelection extends Selection {
  readonly name: string
  readonly any: ReadonlyArray<string>
  readonly all: ReadonlyArray<string>
  readonly none: ReadonlyArray<string>
}

/** Maximum further hashtags of each kind; the rest is ignored (limits-and-rates.md section 1). */
const extraTagsMax = 4

/** Public timelines: ids of statuses, newest first. One query each, and one more for hashtag names. */
export class Timelines extends Context.Service<Timelines, {
  /**
   * Returns statuses, except boosts, replies to others, imported ones and those of limited accounts. For a user, also
   * leaves out hidden accounts and languages that the user has not chosen.
   */
  readonly publicTimeline: (viewer: Viewer, selection: Selection, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
  /** Like `publicTimeline`, but by hashtag, with replies and imported statuses; empty for an unknown hashtag. */
  readonly tagged: (viewer: Viewer, selection: TagSelection, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns statuses with a link to the card's page, by authors who are discoverable. */
  readonly linked: (
    viewer: Viewer,
    cardId: bigint,
    selection: Selection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/feeds/Timelines") {
  static readonly layer = Layer.effect(
    Timelines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** Condition: a status `s` is shown on public timelines of the viewer. */
      const shown = (viewer: Viewer, { local, onlyMedia, remote }: Selection, now: Date): Fragment =>
        sql.and([
          broadcastTo(sql, viewer, "s"),
          ...(onlyMedia ? [sql`s.media_ids <> '{}'`] : []),
          ...(local === remote ? [] : [sql`s.local = ${local}`]),
          ...(viewer === undefined ? [] : [
            sql`NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`s.account_id`, now)}`,
            sql`(s.language IS NULL OR NOT EXISTS (SELECT FROM users choosing WHERE choosing.account_id = ${viewer}
              AND cardinality(choosing.chosen_languages) > 0 AND s.language <> ALL (choosing.chosen_languages) OFFSET 0))`
          ])
        ])
      const ids = (page: Page) => (rows: ReadonlyArray<{ readonly id: bigint }>) =>
        newestFirst(page, rows).map(({ id }) => id)

      const everybody = traced("Timelines.publicTimeline")(function*(viewer: Viewer, selection: Selection, page: Page) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "s.id", page)
        return ids(page)(
          yield* idRows(sql`SELECT s.id FROM statuses s
            WHERE ${shown(viewer, selection, now)} AND ${where} AND NOT s.imported
              AND (s.in_reply_to_id IS NULL OR s.in_reply_to_account_id = s.account_id) ${tail}`)
        )
      }, Effect.orDie)

      const tagged = traced("Timelines.tagged")(function*(viewer: Viewer, selection: TagSelection, page: Page) {
        const anyNames = distinct([selection.name, ...selection.any.slice(0, extraTagsMax)])
        const all = distinct(selection.all.slice(0, extraTagsMax))
        const none = distinct(selection.none.slice(0, extraTagsMax))
        if (page.limit === 0) return []
        const rows = yield* taggedRows(sql`
          SELECT id, name FROM tags WHERE name = ANY (${[...anyNames, ...all, ...none]}::text[])`)
        const known = new Map(rows.map(({ id, name }) => [name, id]))
        const of = (names: ReadonlyArray<string>) => names.flatMap((name) => known.get(name) ?? [])
        if (of(anyNames).length === 0 || of(all).length < all.length) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "t.status_id", page)
        const bears = (tag: bigint) =>
          sql`EXISTS (SELECT FROM statuses_tags other WHERE other.tag_id = ${tag} AND other.status_id = s.id OFFSET 0)`
        const order = sql.literal(page.minId === undefined ? "DESC" : "ASC")
        return ids(page)(
          yield* idRows(sql`SELECT DISTINCT found.id FROM unnest(${of(anyNames)}::bigint[]) tag (id)
            CROSS JOIN LATERAL (SELECT t.status_id AS id FROM statuses_tags t JOIN statuses s ON s.id = t.status_id
              WHERE t.tag_id = tag.id AND ${where} AND ${
            sql.and([
              shown(viewer, selection, now),
              ...of(all).map(bears),
              ...of(none).map((tag) => sql`NOT ${bears(tag)}`)
            ])
          } ${tail}) found
            ORDER BY found.id ${order} LIMIT ${rowsMax(sql, page.limit)}`)
        )
      }, Effect.orDie)

      const linked = traced("Timelines.linked")(function*(
        viewer: Viewer,
        cardId: bigint,
        selection: Selection,
        page: Page
      ) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "l.status_id", page)
        return ids(page)(
          yield* idRows(sql`SELECT s.id FROM status_cards l JOIN statuses s ON s.id = l.status_id
            JOIN accounts author ON author.id = s.account_id AND author.discoverable
            WHERE l.card_id = ${cardId} AND ${where} AND ${shown(viewer, selection, now)} ${tail}`)
        )
      }, Effect.orDie)

      return Timelines.of({ publicTimeline: everybody, tagged, linked })
    })
  )
}

const distinct = (
  names: ReadonlyArray<string>
): ReadonlyArray<string> => [...new Set(names.map((name) => normalise(bounded(name))))]
