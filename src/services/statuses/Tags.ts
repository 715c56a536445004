import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { tokens } from "../html/TextTokens.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"

const tagRows = rowsOf(Schema.Struct({ id: Schema.BigInt, displayName: Schema.String }))
const Day = Schema.Struct({ tagId: Schema.BigInt, day: Schema.Int, uses: Schema.Int, accounts: Schema.Int })
type Day = typeof Day.Type
const dayRows = rowsOf(Day)

/** Uses on one day; `midnight` in seconds since 1970. */
export interface DayOfUse {
  readonly midnight: number
  readonly uses: number
  readonly accounts: number
}

/** A hashtag; `id` is undefined for a valid name that is not stored. */
export interface TagRecord {
  readonly id: bigint | undefined
  readonly name: string
  /** The last seven days, today first. */
  readonly history: ReadonlyArray<DayOfUse>
}

/** Minimum accounts of a busy tag, maximum age of its cached days in milliseconds, and maximum cached tags. */
const busyAccountsMin = 100
const busyMillisMax = 30_000
const busyTagsMax = 1_000

/** Days of the displayed history. */
export const historyDays = 7
const dayMillis = 86_400_000

/** Returns the displayed history, today first, from known days; days are counted from 1970. */
export const historyOf = (
  today: number,
  used: (day: number) => { readonly uses: number; readonly accounts: number } | undefined
): ReadonlyArray<DayOfUse> =>
  Array.from({ length: historyDays }, (_, back) => {
    const { accounts = 0, uses = 0 } = used(today - back) ?? {}
    return { midnight: (today - back) * dayMillis / 1000, uses, accounts }
  })

/** Reads hashtags. Names are compared normalised, and displayed as first written. */
export class Tags extends Context.Service<Tags, {
  /** Finds a hashtag by a name in any spelling; fails with `RecordNotFound` for an invalid name. */
  readonly find: (name: string) => Effect.Effect<TagRecord, RecordNotFound>
  /** Returns hashtags in the order of `ids`; two queries. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<TagRecord>>
  /** Returns ids of hashtags, created if needed; fails with `RecordNotFound` for an invalid name. */
  readonly findOrCreate: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<bigint>, RecordNotFound | SqlError>
}>()("murmuration/services/statuses/Tags") {
  static readonly layer = Layer.effect(
    Tags,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const cache = yield* Cache.make<bigint, ReadonlyArray<Day>>({
        max: { entries: busyTagsMax },
        millisMax: busyMillisMax
      })

      /** Returns the days on which tags were used. Busy tags have many rows, so their days are cached. */
      const daysOf = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, today: number) {
        const found = new Map<bigint, ReadonlyArray<Day>>()
        for (const id of ids) {
          const days = yield* cache.find(id)
          if (days !== undefined) found.set(id, days)
        }
        const missing = ids.filter((id) => !found.has(id))
        if (missing.length === 0) return [...found.values()].flat()
        const rows = yield* dayRows(sql`
          SELECT tag_id, day - DATE '1970-01-01' AS day, sum(uses)::int AS uses, count(*)::int AS accounts FROM tag_days
          WHERE uses > 0 AND tag_id = ANY (${missing}::bigint[]) AND day > DATE '1970-01-01' + ${
          today - historyDays
        }::int GROUP BY tag_id, day`)
        for (const [id, days] of Map.groupBy(rows, ({ tagId }) => tagId)) {
          const accounts = days.reduce((sum, day) => sum + day.accounts, 0)
          if (accounts >= busyAccountsMin) yield* cache.renew(id, Effect.succeed(days))
        }
        return [...found.values(), rows].flat()
      })

      const load = traced("Tags.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const today = Math.floor((yield* Clock.currentTimeMillis) / dayMillis)
        const rows = yield* tagRows(sql`
          SELECT id, display_name FROM tags WHERE id = ANY (${ids}::bigint[])`)
        const days = yield* daysOf(ids, today)
        const used = new Map(days.map((day) => [`${day.tagId}:${day.day}`, day]))
        const names = new Map(rows.map(({ displayName, id }) => [id, displayName]))
        return ids.flatMap((id) => {
          const name = names.get(id)
          if (name === undefined) return []
          return [{ id, name, history: historyOf(today, (day) => used.get(`${id}:${day}`)) }]
        })
      }, Effect.orDie)

      const find = traced("Tags.find")(function*(name: string) {
        if (!isTagName(name)) return yield* new RecordNotFound()
        const [row] = yield* idRows(sql`SELECT id FROM tags WHERE name = ${normalise(bounded(name))}`).pipe(
          Effect.orDie
        )
        const [found] = row === undefined ? [] : yield* load([row.id])
        if (found !== undefined) return found
        const today = Math.floor((yield* Clock.currentTimeMillis) / dayMillis)
        return { id: undefined, name, history: historyOf(today, () => undefined) }
      })
      const findOrCreate = traced("Tags.findOrCreate")(function*(names: ReadonlyArray<string>) {
        if (!names.every(isTagName)) return yield* new RecordNotFound()
        const now = yield* Clock.currentTimeMillis
        const byName = new Map(names.map((name) => [normalise(bounded(name)), name]))
        const wanted = [...byName].toSorted(([a], [b]) => a < b ? -1 : 1)
        const rows = yield* idRows(sql`INSERT INTO tags (id, name, display_name, created_at)
          SELECT next_id(${now}), name, display_name, ${new Date(now)}
          FROM unnest(${wanted.map(([name]) => name)}::text[], ${wanted.map(([, shown]) => shown)}::text[])
            AS given (name, display_name)
          ON CONFLICT (name) DO UPDATE SET display_name = tags.display_name RETURNING id`)
        return rows.map(({ id }) => id)
      })

      return Tags.of({ findOrCreate, find, load })
    })
  ).pipe(Layer.provide(Changes.layer))
}

/** Returns true if `#name` would be a hashtag in a post. */
export const isTagName = (name: string): boolean => {
  const [token, ...rest] = tokens(`#${name}`)
  return token?.kind === "hashtag" && token.name === name && rest.length === 0
}
