import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, idAt } from "../Ids.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import * as NewestQuery from "./NewestQuery.ts"

/** Posts that are caught up with, the newest, and how far back, in hours. */
export const catchupStatusesMax = 800
export const catchupHoursMax = 72

const postedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/** What somebody missed at home, so that those who say little are not lost among those who say much. */
export class Catchups extends Context.Service<Catchups, {
  /**
   * The home's statuses by others since a time (milliseconds since 1970), a post that several boosted once, those of people
   * with the fewest of them first; those of one person stand together, the newest first.
   */
  readonly since: (reader: AccountId, millis: number) => Effect.Effect<ReadonlyArray<bigint>>
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
          // The post itself stands for its boosts, else the newest of them does.
          if (authors.has(id) && (reblogOfId === null || !entries.has(reblogOfId))) entries.set(reblogOfId ?? id, id)
        }
        const byAuthor = Map.groupBy([...entries.values()], (id) => authors.get(id) ?? 0n)
        return [...byAuthor.values()].map((own) => own.toSorted(newestFirst))
          .toSorted((a, b) => a.length - b.length || newestFirst(a[0] ?? 0n, b[0] ?? 0n)).flat()
      }, Effect.orDie)
      return Catchups.of({ since })
    })
  )
}

const newestFirst = (a: bigint, b: bigint) => a < b ? 1 : a > b ? -1 : 0
