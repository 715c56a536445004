import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import type { Listed } from "../statuses/Interactions.ts"
import { traced } from "../Traced.ts"

/** A muted account; `expiresAt` is null for a mute without an end. */
interface Muted extends Listed {
  readonly expiresAt: Date | null
}

/** Whom an account blocks and mutes, paged by the relations' ids. Suspended accounts are left out. */
export class Exclusions extends Context.Service<Exclusions, {
  readonly blocked: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  readonly muted: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Muted>>
}>()("murmuration/services/social/Exclusions") {
  static readonly layer = Layer.effect(
    Exclusions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const there = sql`NOT EXISTS (SELECT FROM accounts gone
        WHERE gone.id = r.target_account_id AND gone.suspended_at IS NOT NULL OFFSET 0)`

      const blocked = traced("Exclusions.blocked")(function*(account: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* sql<Listed>`SELECT r.id AS cursor, r.target_account_id AS account_id FROM blocks r
          WHERE r.account_id = ${account} AND ${where} AND ${there} ${tail}`
        return newestFirst(page, rows)
      }, Effect.orDie)

      const muted = traced("Exclusions.muted")(function*(account: AccountId, page: Page) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* sql<
          Muted
        >`SELECT r.id AS cursor, r.target_account_id AS account_id, r.expires_at FROM mutes r
          WHERE r.account_id = ${account} AND ${where} AND (r.expires_at IS NULL OR r.expires_at > ${now}) AND ${there} ${tail}`
        return newestFirst(page, rows)
      }, Effect.orDie)

      return Exclusions.of({ blocked, muted })
    })
  )
}
