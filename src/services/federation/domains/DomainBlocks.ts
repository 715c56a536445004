import { Clock, Context, Data, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { lockBound, requireCapacity } from "../../database/BoundedTables.ts"
import type { AccountId } from "../../database/Ids.ts"
import { type Page, rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { transaction } from "../../database/Transactions.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { exceeds } from "../../html/Text.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { AuditLog } from "../../staff/AuditLog.ts"
import { auditedRows } from "../../staff/StaffRows.ts"
import { domainRulesMax } from "./DomainPolicies.ts"
import { DomainBlock, isStricter, namesOf, type Severity } from "./DomainPolicy.ts"
import * as DomainTasks from "./DomainTasks.ts"
import { ruledDomain, validDomain } from "./RuledDomain.ts"

/** Maximum characters of a comment. */
const commentCharactersMax = 5_000

export const DomainBlockRecord = Schema.Struct({
  ...DomainBlock.fields,
  id: Schema.BigInt,
  /** Shown to operators only; null if empty. */
  privateComment: Schema.NullOr(Schema.String),
  /** Shown to readers of the list. */
  publicComment: Schema.NullOr(Schema.String),
  /** Shows the domain with asterisks in the published list. */
  obfuscate: Schema.Boolean,
  /** Moderation list that made the block; null if staff did. A list does not overrule staff. */
  listId: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz
})
export type DomainBlockRecord = typeof DomainBlockRecord.Type
const blockRecordRows = rowsOf(DomainBlockRecord)

/**
 * Change of a block. Absent fields keep their values; in a new block the severity is `silence` (operations.md section
 * 17) and everything else is off.
 */
export interface DomainBlockChange {
  readonly severity?: Severity | undefined
  readonly rejectMedia?: boolean | undefined
  readonly rejectReports?: boolean | undefined
  readonly privateComment?: string | null | undefined
  readonly publicComment?: string | null | undefined
  readonly obfuscate?: boolean | undefined
  readonly listId?: bigint | null | undefined
  /** Staff confirmed a rule about a public suffix (`ruledDomain`). */
  readonly confirmed?: boolean | undefined
}

/** A new block would be redundant or weaker: one exists for the same domain or a parent domain (S-168, S-274). */
class DomainBlockConflict extends Data.TaggedError("DomainBlockConflict")<{
  readonly existing: DomainBlockRecord
}> {}

/**
 * The operator's decisions about domains, subdomains included. All nodes see a change within a second. Each change
 * enqueues a task that updates the domain's accounts. `by` is absent for the command line and for lists that the server
 * follows.
 */
export class DomainBlocks extends Context.Service<DomainBlocks, {
  /** Blocks a domain, or changes its existing block. */
  readonly block: (
    domain: string,
    change: DomainBlockChange,
    by?: AccountId
  ) => Effect.Effect<DomainBlockRecord, Unprocessable>
  /** Blocks a domain unless an existing block is at least as strict. */
  readonly create: (
    domain: string,
    change: DomainBlockChange,
    by: AccountId
  ) => Effect.Effect<DomainBlockRecord, Unprocessable | DomainBlockConflict>
  readonly update: (
    id: bigint,
    change: DomainBlockChange,
    by: AccountId
  ) => Effect.Effect<DomainBlockRecord, Unprocessable | RecordNotFound>
  readonly remove: (id: bigint, by: AccountId) => Effect.Effect<void, RecordNotFound>
  /** Returns false if there was no block. */
  readonly unblock: (domain: string, by?: AccountId) => Effect.Effect<boolean, Unprocessable>
  readonly find: (id: bigint) => Effect.Effect<DomainBlockRecord, RecordNotFound>
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<DomainBlockRecord>>
  /** Number of blocks, counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  /** All blocks, strictest first, then by name. */
  readonly blocks: Effect.Effect<ReadonlyArray<DomainBlockRecord>>
}>()("murmuration/services/federation/domains/DomainBlocks") {
  static readonly layer = Layer.effect(DomainBlocks, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const checked = ({ privateComment, publicComment }: DomainBlockChange) => {
  const problems = [
    ...(exceeds(privateComment ?? "", commentCharactersMax) ? ["Private comment"] : []),
    ...(exceeds(publicComment ?? "", commentCharactersMax) ? ["Public comment"] : [])
  ].map((field) => `${field} is too long (maximum is ${commentCharactersMax} characters)`)
  return problems.length === 0 ? Effect.void : Effect.fail(validationFailed(...problems))
}

const untouched = {
  severity: "silence",
  rejectMedia: false,
  rejectReports: false,
  privateComment: null,
  publicComment: null,
  obfuscate: false,
  listId: null
} as const satisfies DomainBlockChange

/** Returns a block's fields after a change. */
const merged = (
  before: Omit<DomainBlockRecord, "id" | "domain" | "createdAt">,
  change: DomainBlockChange
) => ({
  severity: change.severity ?? before.severity,
  rejectMedia: change.rejectMedia ?? before.rejectMedia,
  rejectReports: change.rejectReports ?? before.rejectReports,
  privateComment: change.privateComment === undefined ? before.privateComment : change.privateComment,
  publicComment: change.publicComment === undefined ? before.publicComment : change.publicComment,
  obfuscate: change.obfuscate ?? before.obfuscate,
  listId: change.listId === undefined ? before.listId : change.listId
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const audit = yield* AuditLog
  const target = ({ domain, id }: DomainBlockRecord) => ({ type: "domainBlock", id, label: domain }) as const
  const table = auditedRows({ sql, audit, table: "domain_blocks", rows: blockRecordRows, target })

  /**
   * Enqueues an update of the domain's accounts from the first one, in the current transaction. Accounts that lost
   * follows are notified when it ends.
   */
  const enforce = (domain: string, now: number) => DomainTasks.enqueue(sql, domain, now)
  const changing = <A, E>(work: (now: number) => Effect.Effect<A, E | SqlError>) =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      // An update of a list mixes blocks and their removal in one transaction.
      (now) => transaction(sql)(Effect.andThen(lockBound(sql, "domain_blocks"), work(now)))
    ).pipe(
      Effect.catchIf(isSqlError, Effect.die)
    )

  /** Inserts a block; undefined if one exists already. */
  const insert = Effect.fnUntraced(function*(domain: string, change: DomainBlockChange, now: number, by?: AccountId) {
    if ((yield* among([domain])).length > 0) return undefined
    yield* requireCapacity(sql, { table: "domain_blocks", name: "Domain blocks", max: domainRulesMax })
    const mergedBlock = merged(untouched, change)
    const [inserted] = yield* table.rows(
      tracked("domains")(sql`
      INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, private_comment, public_comment,
        obfuscate, list_id, created_at, updated_at)
      VALUES (next_id(${now}), ${domain}, ${mergedBlock.severity}, ${mergedBlock.rejectMedia}, ${mergedBlock.rejectReports},
        ${mergedBlock.privateComment}, ${mergedBlock.publicComment}, ${mergedBlock.obfuscate}, ${mergedBlock.listId}, ${new Date(
        now
      )}, ${new Date(now)})
      ON CONFLICT (domain) DO NOTHING RETURNING *`)
    )
    if (inserted === undefined) return undefined
    yield* table.created(by, inserted)
    yield* enforce(domain, now)
    return inserted
  })

  const write = Effect.fnUntraced(
    function*(before: DomainBlockRecord, change: DomainBlockChange, now: number, by?: AccountId) {
      const mergedBlock = merged(before, change)
      const after = singleRow(
        yield* table.rows(
          tracked("domains")(
            sql`UPDATE domain_blocks SET severity = ${mergedBlock.severity}, reject_media = ${mergedBlock.rejectMedia},
          reject_reports = ${mergedBlock.rejectReports}, private_comment = ${mergedBlock.privateComment},
          public_comment = ${mergedBlock.publicComment}, obfuscate = ${mergedBlock.obfuscate}, list_id = ${mergedBlock.listId}, updated_at = ${new Date(
              now
            )}
        WHERE id = ${before.id} RETURNING *`
          )
        )
      )
      yield* table.changed(by, before, after)
      yield* enforce(after.domain, now)
      return after
    }
  )
  const drop = Effect.fnUntraced(function*(before: DomainBlockRecord, now: number, by?: AccountId) {
    yield* tracked("domains")(table.remove(before.id))
    yield* table.destroyed(by, before)
    yield* enforce(before.domain, now)
  })

  const among = (domains: ReadonlyArray<string>) =>
    table.rows(sql`SELECT * FROM domain_blocks WHERE domain = ANY (${domains}::text[]) FOR UPDATE`)

  return DomainBlocks.of({
    block: traced("DomainBlocks.block")(function*(text, change, by) {
      const domain = yield* ruledDomain(text, change.confirmed)
      yield* checked(change)
      return yield* changing((now) =>
        Effect.gen(function*() {
          const created = yield* insert(domain, change, now, by)
          return created ?? (yield* write(singleRow(yield* among([domain])), change, now, by))
        })
      )
    }),
    create: traced("DomainBlocks.create")(function*(text, change, by) {
      const domain = yield* ruledDomain(text, change.confirmed)
      yield* checked(change)
      return yield* changing((now) =>
        Effect.gen(function*() {
          // The nearest domain decides.
          const above = (yield* among(namesOf(domain))).toSorted((a, b) => b.domain.length - a.domain.length)[0]
          if (above !== undefined && (above.domain === domain || !isStricter(merged(untouched, change), above))) {
            return yield* new DomainBlockConflict({ existing: above })
          }
          const created = yield* insert(domain, change, now, by)
          return created ?? (yield* new DomainBlockConflict({ existing: singleRow(yield* among([domain])) }))
        })
      )
    }),
    update: traced("DomainBlocks.update")(function*(id, change, by) {
      yield* checked(change)
      return yield* changing((now) =>
        Effect.flatMap(table.take(id), (before) => write(before, { ...change, listId: null }, now, by))
      )
    }),
    remove: traced("DomainBlocks.remove")((id, by) =>
      changing((now) => Effect.flatMap(table.take(id), (before) => drop(before, now, by)))
    ),
    unblock: traced("DomainBlocks.unblock")(function*(text, by) {
      const domain = yield* validDomain(text)
      return yield* changing((now) =>
        Effect.flatMap(
          among([domain]),
          ([before]) => before === undefined ? Effect.succeed(false) : Effect.as(drop(before, now, by), true)
        )
      )
    }),
    find: traced("DomainBlocks.find")(table.find),
    page: traced("DomainBlocks.page")(table.page),
    total: table.total,
    blocks: table.rows(sql`SELECT * FROM domain_blocks
      ORDER BY array_position(ARRAY['suspend', 'silence', 'noop'], severity), domain
      LIMIT ${rowsMax(sql, domainRulesMax)}`).pipe(Effect.orDie, Effect.withSpan("DomainBlocks.blocks"))
  })
})
