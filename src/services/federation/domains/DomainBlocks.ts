import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../Broadcast.ts"
import { type Unprocessable, validationFailed } from "../../Errors.ts"
import { rowsMax } from "../../Paging.ts"
import { only, rowsOf, Timestamptz } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import { transaction } from "../../Transactions.ts"
import { normalizeDomain } from "../DomainNames.ts"
import { domainRulesMax } from "./DomainPolicies.ts"
import { DomainBlock, type Severity } from "./DomainPolicy.ts"
import * as DomainTasks from "./DomainTasks.ts"

const DomainBlockRecord = Schema.Struct({
  ...DomainBlock.fields,
  id: Schema.BigInt,
  /** For the operators; null where there is none. */
  privateComment: Schema.NullOr(Schema.String),
  /** For those who may read the list. */
  publicComment: Schema.NullOr(Schema.String),
  /** The list shows the domain with asterisks. */
  obfuscate: Schema.Boolean,
  createdAt: Timestamptz
})
export type DomainBlockRecord = typeof DomainBlockRecord.Type
const blockRows = rowsOf(DomainBlockRecord)

/** Absent fields stay; in a new block the severity is `silence` (operations.md section 17) and the rest is off. */
interface DomainBlockChange {
  readonly severity?: Severity
  readonly rejectMedia?: boolean
  readonly rejectReports?: boolean
  readonly privateComment?: string | null
  readonly publicComment?: string | null
  readonly obfuscate?: boolean
}

const domainRows = rowsOf(Schema.Struct({ domain: Schema.String }))

/**
 * The operator's decisions about domains, subdomains included. Every node knows of a change within a second. Each
 * leaves a task that brings the accounts of the domain in line.
 */
export class DomainBlocks extends Context.Service<DomainBlocks, {
  /** Blocks a domain, or changes the block that is there. */
  readonly block: (domain: string, change: DomainBlockChange) => Effect.Effect<DomainBlockRecord, Unprocessable>
  /** False where there was none. */
  readonly unblock: (domain: string) => Effect.Effect<boolean, Unprocessable>
  /** Lists a domain for limited federation. */
  readonly allow: (domain: string) => Effect.Effect<void, Unprocessable>
  readonly disallow: (domain: string) => Effect.Effect<boolean, Unprocessable>
  /** The strictest first, each by name. */
  readonly blocks: Effect.Effect<ReadonlyArray<DomainBlockRecord>>
  readonly allows: Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/services/federation/domains/DomainBlocks") {
  static readonly layer = Layer.effect(
    DomainBlocks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const most = rowsMax(sql, domainRulesMax)

      const valid = (text: string) => {
        const domain = normalizeDomain(text.trim())
        return domain === undefined
          ? validationFailed(text.trim() === "" ? "Domain can't be blank" : "Domain is not a valid domain name")
          : Effect.succeed(domain)
      }

      /** Does it, and has the accounts of the domain looked at again from the first one; who has lost something is told at the end. */
      const changing = <A, E>(domain: string, work: (now: number) => Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const done = yield* transaction(sql)(Effect.tap(work(now), () => DomainTasks.enqueue(sql, domain, now)))
          yield* broadcast.publish({ _tag: "Changed", kind: "domains", ids: [] })
          return done
        })
      const removed = (rows: ReadonlyArray<unknown>) => rows.length > 0

      const block = traced("DomainBlocks.block")(function*(text: string, change: DomainBlockChange) {
        const domain = yield* valid(text)
        const given = <A>(value: A | undefined) => value === undefined
        const rows = yield* changing(domain, (now) =>
          blockRows(sql`
            INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, private_comment,
              public_comment, obfuscate, created_at, updated_at)
            VALUES (next_id(${now}), ${domain}, ${change.severity ?? "silence"}, ${change.rejectMedia ?? false},
              ${change.rejectReports ?? false}, ${change.privateComment ?? null}, ${change.publicComment ?? null},
              ${change.obfuscate ?? false}, ${new Date(now)}, ${new Date(now)})
            ON CONFLICT (domain) DO UPDATE SET updated_at = EXCLUDED.updated_at,
              severity = CASE WHEN ${given(change.severity)} THEN domain_blocks.severity ELSE EXCLUDED.severity END,
              reject_media = CASE WHEN ${
            given(change.rejectMedia)
          } THEN domain_blocks.reject_media ELSE EXCLUDED.reject_media END,
              reject_reports = CASE WHEN ${
            given(change.rejectReports)
          } THEN domain_blocks.reject_reports ELSE EXCLUDED.reject_reports END,
              private_comment = CASE WHEN ${
            given(change.privateComment)
          } THEN domain_blocks.private_comment ELSE EXCLUDED.private_comment END,
              public_comment = CASE WHEN ${
            given(change.publicComment)
          } THEN domain_blocks.public_comment ELSE EXCLUDED.public_comment END,
              obfuscate = CASE WHEN ${given(change.obfuscate)} THEN domain_blocks.obfuscate ELSE EXCLUDED.obfuscate END
            RETURNING *`)).pipe(Effect.catchTag("SqlError", Effect.die))
        return only(rows)
      })

      const remove = (table: "domain_blocks" | "domain_allows") =>
        Effect.fnUntraced(function*(text: string) {
          const domain = yield* valid(text)
          return yield* changing(
            domain,
            () => Effect.map(sql`DELETE FROM ${sql(table)} WHERE domain = ${domain} RETURNING id`, removed)
          ).pipe(Effect.catchTag("SqlError", Effect.die))
        })

      return DomainBlocks.of({
        block,
        unblock: traced("DomainBlocks.unblock")(remove("domain_blocks")),
        allow: traced("DomainBlocks.allow")(function*(text) {
          const domain = yield* valid(text)
          yield* changing(
            domain,
            (now) =>
              sql`INSERT INTO domain_allows (id, domain, created_at)
              VALUES (next_id(${now}), ${domain}, ${new Date(now)}) ON CONFLICT DO NOTHING`
          ).pipe(Effect.catchTag("SqlError", Effect.die))
        }),
        disallow: traced("DomainBlocks.disallow")(remove("domain_allows")),
        blocks: blockRows(sql`SELECT * FROM domain_blocks
          ORDER BY array_position(ARRAY['suspend', 'silence', 'noop'], severity), domain LIMIT ${most}`).pipe(
          Effect.orDie,
          Effect.withSpan("DomainBlocks.blocks")
        ),
        allows: domainRows(sql`SELECT domain FROM domain_allows ORDER BY domain LIMIT ${most}`).pipe(
          Effect.map((rows) => rows.map(({ domain }) => domain)),
          Effect.orDie,
          Effect.withSpan("DomainBlocks.allows")
        )
      })
    })
  )
}
