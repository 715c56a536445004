import { Clock, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../services/database/Rows.ts"
import type { FeedKey } from "../../services/feeds/Feeds.ts"
import { type FeedLists, slices } from "./FeedLists.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** Maximum feeds that are remembered one by one; beyond it all feeds are dropped. */
const rememberedMax = 200_000
/**
 * Interval at which a node with pending drops refreshes its note, in milliseconds. A node whose note is older than
 * `noteMillisMax` counts as dead.
 */
const noteMillis = 5_000
const noteMillisMax = 30_000
const notePrefix = "feeds_missed:"

/**
 * Feeds that are out of date because Redis failed. `remember` keeps them until `repair` has dropped them; until then a
 * note in Postgres records that this node owes drops. `inherit` drops all feeds if a node died that had left a note.
 */
export const make = Effect.fnUntraced(function*(lists: FeedLists) {
  const sql = yield* SqlClient.SqlClient
  const note = notePrefix + (yield* (yield* SecureRandom.SecureRandom).uuidV4())
  /** Feeds, each with the number of the last failure after which it was remembered. */
  const remembered = new Map<FeedKey, number>()
  let failures = 0
  /** Counts overflows; a pass that began before the last one does not cover it. */
  let overflows = 0
  let repaired = 0
  let notedAt: number | undefined

  const dropAll = Effect.suspend(() => {
    const began = overflows
    return Effect.andThen(lists.dropAll, Effect.sync(() => repaired = began))
  })
  const drop = Effect.fnUntraced(function*(slice: ReadonlyArray<FeedKey>) {
    const began = failures
    yield* lists.drop(slice)
    // Feeds that failed again while Redis was dropping have to be dropped once more.
    for (const feed of slice) if ((remembered.get(feed) ?? 0) <= began) remembered.delete(feed)
  })

  const leaveNote = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (notedAt !== undefined && now - notedAt < noteMillis) return
    yield* sql`INSERT INTO settings (name, value, updated_at) VALUES (${note}, 'true', ${new Date(now)})
      ON CONFLICT (name) DO UPDATE SET updated_at = EXCLUDED.updated_at`
    notedAt = now
  })
  const takeNoteBack = Effect.andThen(
    sql`DELETE FROM settings WHERE name = ${note}`,
    Effect.sync(() => notedAt = undefined)
  )

  const repair = Effect.gen(function*() {
    if (overflows === repaired && remembered.size === 0) {
      if (notedAt !== undefined) yield* takeNoteBack
      return
    }
    yield* Effect.ignore(leaveNote)
    if (overflows > repaired) yield* dropAll
    for (const slice of slices([...remembered.keys()])) yield* drop(slice)
  })

  const inherit = Effect.gen(function*() {
    const before = new Date((yield* Clock.currentTimeMillis) - noteMillisMax)
    const dead = yield* nameRows(sql`
      SELECT name FROM settings WHERE name LIKE ${`${notePrefix}%`} AND updated_at < ${before}`)
    if (dead.length === 0) return
    yield* lists.dropAll
    yield* sql`DELETE FROM settings WHERE ${sql.in("name", dead.map(({ name }) => name))} AND updated_at < ${before}`
  })

  return {
    /** Returns true if the feed may be out of date. */
    mayBeStale: (feed: FeedKey) => overflows > repaired || remembered.has(feed),
    remember: (feeds: ReadonlyArray<FeedKey>) =>
      Effect.sync(() => {
        failures++
        for (const feed of feeds) remembered.set(feed, failures)
        if (remembered.size <= rememberedMax) return
        remembered.clear()
        overflows++
      }),
    repair: Effect.ignore(repair),
    inherit: Effect.ignore(inherit)
  }
})
