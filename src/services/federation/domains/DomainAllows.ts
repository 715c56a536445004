import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { lockBound, requireCapacity } from "../../database/BoundedTables.ts"
import type { AccountId } from "../../database/Ids.ts"
import { type Page, rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { transaction } from "../../database/Transactions.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import type { RecordNotFound, Unprocessable } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { AuditLog } from "../../staff/AuditLog.ts"
import { auditedRows } from "../../staff/StaffRows.ts"
import { domainRulesMax } from "./DomainPolicies.ts"
import * as DomainTasks from "./DomainTasks.ts"
import { ruledDomain, validDomain } from "./RuledDomain.ts"

const DomainAllow = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.String,
  createdAt: Timestamptz,
  listId: Schema.NullOr(Schema.BigInt)
})
export type DomainAllow = typeof DomainAllow.Type
const allowRows = rowsOf(DomainAllow)

/**
 * Servers that limited federation communicates with (S-170). `by` is absent for the command line and for lists that the
 * server follows.
 */
export class DomainAllows extends Context.Service<DomainAllows, {
  /** Allows a domain; an existing entry stays unchanged. */
  readonly allow: (
    domain: string,
    allow?: { readonly by?: AccountId; readonly listId?: bigint | undefined; readonly confirmed?: boolean }
  ) => Effect.Effect<DomainAllow, Unprocessable>
  /** Returns false if the domain was not listed. */
  readonly disallow: (domain: string, by?: AccountId) => Effect.Effect<boolean, Unprocessable>
  readonly remove: (id: bigint, by: AccountId) => Effect.Effect<void, RecordNotFound>
  readonly find: (id: bigint) => Effect.Effect<DomainAllow, RecordNotFound>
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<DomainAllow>>
  /** Number of entries, counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  /** All entries, sorted by name. */
  readonly allows: Effect.Effect<ReadonlyArray<DomainAllow>>
}>()("murmuration/services/federation/domains/DomainAllows") {
  static readonly layer = Layer.effect(
    DomainAllows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const audit = yield* AuditLog
      const target = ({ domain, id }: DomainAllow) => ({ type: "domainAllow", id, label: domain }) as const
      const table = auditedRows({ sql, audit, table: "domain_allows", rows: allowRows, target })
      const enforce = (domain: string, now: number) => DomainTasks.enqueue(sql, domain, now)
      const named = (domain: string) => table.rows(sql`SELECT * FROM domain_allows WHERE domain = ${domain} FOR UPDATE`)
      // An update of a list mixes entries and their removal in one transaction.
      const changing = <A, E>(work: Effect.Effect<A, E | SqlError>) =>
        transaction(sql)(Effect.andThen(lockBound(sql, "domain_allows"), work)).pipe(
          Effect.catchIf(isSqlError, Effect.die)
        )
      const drop = Effect.fnUntraced(function*(before: DomainAllow, by: AccountId | undefined) {
        yield* tracked("domains")(table.remove(before.id))
        yield* table.destroyed(by, before)
        yield* enforce(before.domain, yield* Clock.currentTimeMillis)
      })

      return DomainAllows.of({
        allow: traced("DomainAllows.allow")(function*(text, { by, confirmed, listId } = {}) {
          const domain = yield* ruledDomain(text, confirmed)
          const now = yield* Clock.currentTimeMillis
          return yield* changing(Effect.gen(function*() {
            const [existing] = yield* named(domain)
            if (existing !== undefined) return existing
            yield* requireCapacity(sql, { table: "domain_allows", name: "Domain allows", max: domainRulesMax })
            const [inserted] = yield* table.rows(
              tracked("domains")(sql`INSERT INTO domain_allows (id, domain, list_id, created_at)
              VALUES (next_id(${now}), ${domain}, ${listId ?? null}::bigint, ${new Date(
                now
              )}) ON CONFLICT DO NOTHING RETURNING *`)
            )
            if (inserted === undefined) return singleRow(yield* named(domain))
            yield* table.created(by, inserted)
            yield* enforce(domain, now)
            return inserted
          }))
        }),
        disallow: traced("DomainAllows.disallow")(function*(text, by) {
          const domain = yield* validDomain(text)
          return yield* changing(
            Effect.flatMap(
              named(domain),
              ([before]) => before === undefined ? Effect.succeed(false) : Effect.as(drop(before, by), true)
            )
          )
        }),
        remove: traced("DomainAllows.remove")((id, by) =>
          changing(Effect.flatMap(table.take(id), (before) => drop(before, by)))
        ),
        find: traced("DomainAllows.find")(table.find),
        page: traced("DomainAllows.page")(table.page),
        total: table.total,
        allows: table.rows(sql`SELECT * FROM domain_allows ORDER BY domain LIMIT ${rowsMax(sql, domainRulesMax)}`).pipe(
          Effect.orDie,
          Effect.withSpan("DomainAllows.allows")
        )
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
