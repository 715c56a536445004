import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { transaction } from "../database/Transactions.ts"
import { type DomainBlockRecord, DomainBlocks } from "../federation/domains/DomainBlocks.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import * as BlockCsv from "./BlockCsv.ts"
import { severityOf } from "./ListDecision.ts"
import { listEntriesMax, type ListEntry } from "./ListEntry.ts"

/** Maximum blocks made in one transaction. */
const sliceRowsMax = 100

/** Effects of an import. */
interface ImportPreview {
  readonly entries: ReadonlyArray<ListEntry & { readonly severity: "silence" | "suspend"; readonly known: boolean }>
  /** Number of rows without a domain that can be blocked. */
  readonly skipped: number
}

/** CSV export and import of domain blocks: previewed first, applied to domains that are not blocked yet. */
export class BlockImports extends Context.Service<BlockImports, {
  readonly write: Effect.Effect<string>
  readonly preview: (text: string) => Effect.Effect<ImportPreview, Unprocessable>
  /** Creates the blocks and returns them; existing blocks are kept unchanged. */
  readonly run: (by: AccountId, text: string) => Effect.Effect<ReadonlyArray<DomainBlockRecord>, Unprocessable>
}>()("murmuration/services/lists/BlockImports") {
  static readonly layer = Layer.effect(
    BlockImports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const blocks = yield* DomainBlocks
      const { localDomain } = yield* ServerConfig

      const preview = traced("BlockImports.preview")(function*(text: string) {
        if (text.trim() === "") return yield* validationFailed("Data can't be blank")
        const read = yield* BlockCsv.read(text, "reject", localDomain)
        if (read === undefined) return yield* validationFailed(`Data are too many (maximum is ${listEntriesMax})`)
        const blockedDomains = new Set((yield* blocks.blocks).map(({ domain }) => domain))
        return {
          entries: read.entries.flatMap((entry) => {
            const severity = severityOf(entry.action)
            return severity === "silence" || severity === "suspend"
              ? [Object.assign({ severity, known: blockedDomains.has(entry.domain) }, entry)]
              : []
          }),
          skipped: read.skipped
        }
      })

      const run = traced("BlockImports.run")(function*(by: AccountId, text: string) {
        const { entries } = yield* preview(text)
        const fresh = entries.filter(({ known }) => !known)
        const created: Array<DomainBlockRecord> = []
        for (let at = 0; at < fresh.length; at += sliceRowsMax) {
          const rows = fresh.slice(at, at + sliceRowsMax)
          const done = yield* transaction(sql)(
            Effect.forEach(rows, (row) =>
              blocks.create(row.domain, { ...row, confirmed: true }, by).pipe(
                Effect.map((block): DomainBlockRecord | undefined => block),
                // Blocked in the meantime, or a parent domain is blocked as strictly.
                Effect.catchTag("DomainBlockConflict", () => Effect.succeed(undefined))
              ))
          ).pipe(Effect.catchTag("SqlError", Effect.die))
          created.push(...done.filter((block) => block !== undefined))
        }
        yield* audit.record({
          by,
          action: "import",
          target: { type: "domainBlock", label: `${created.length} domains` },
          after: { made: created.length }
        }).pipe(Effect.orDie)
        return created
      })

      return BlockImports.of({ write: Effect.flatMap(blocks.blocks, BlockCsv.write), preview, run })
    })
  ).pipe(Layer.provide([AuditLog.layer, DomainBlocks.layer]))
}
