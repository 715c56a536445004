import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, idAt } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import * as NewestQuery from "./NewestQuery.ts"

/** Maximum posts of a catch-up, newest first, and maximum age in hours. */
export const catchupStatusesMax = 800
export const catchupHoursMax = 72

const postedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))
const linkingRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))

/** Catch-up of missed home posts, ordered so that accounts with few posts come first. */
export class Catchups extends Context.Service<Catchups, {
  /**
   * Returns home statuses of others since a time (milliseconds since 1970). A post that several accounts boosted is
   * listed once. Grouped by account, those with the fewest posts first; newest first within an account.
   */
  readonly since: (reader: AccountId, millis: number) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns, for each of the links that most of these statuses share, one status with it; most shared first. */
  readonly linking: (statuses: ReadonlyArray<bigint>, linksMax: number) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/feeds/Catchups") {
  static readonly layer = Layer.effect(
    Catchups,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const since = traced("Catchups.since")(function*(reader: AccountId, millis: number) {
        const now = yield* Clock.currentTimeMillis
        const from = Math.max(millis, now - catchupHoursMax * 3_600_000)
        const range = { above: idAt(from) - 1n, limit: catchupStatusesMax }
        const rows = yield* NewestQuery.ofHome(sql, reader, range, new Date(now))
        const ids = rows.map(({ id }) => id)
        const posted = yield* postedRows(
          sql`SELECT id, account_id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND account_id <> ${reader}`
        )
        const authors = new Map(posted.map(({ accountId, id }) => [id, accountId]))
        const entries = new Map<bigint, bigint>()
        for (const { id, reblogOfId } of rows) {
          // Keeps the post itself over its boosts, otherwise the newest boost.
          if (authors.has(id) && (reblogOfId === null || !entries.has(reblogOfId))) entries.set(reblogOfId ?? id, id)
        }
        const byAuthor = Map.groupBy([...entries.values()], (id) => authors.get(id) ?? 0n)
        return [...byAuthor.values()].map((own) => own.toSorted(newestFirst))
          .toSorted((a, b) => a.length - b.length || newestFirst(a[0] ?? 0n, b[0] ?? 0n)).flat()
      }, Effect.orDie)
      const linking = traced("Catchups.linking")(function*(statuses: ReadonlyArray<bigint>, linksMax: number) {
        const rows = yield* linkingRows(sql`
          SELECT max(s.id) AS id FROM statuses s JOIN status_cards c ON c.status_id = coalesce(s.reblog_of_id, s.id)
          WHERE s.id = ANY (${statuses}::bigint[]) GROUP BY c.card_id
          ORDER BY count(*) DESC, max(s.id) DESC LIMIT ${linksMax}`)
        return rows.map(({ id }) => id)
      }, Effect.orDie)
      return Catchups.of({ since, linking })
    })
  )
}

const newestFirst = (a: bigint, b: bigint) => a < b ? 1 : a > b ? -1 : 0
