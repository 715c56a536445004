import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { decodeOptions, type FailedLine, type ImportOptions } from "./ImportLine.ts"
import { ImportLines } from "./ImportLines.ts"
import { readFile } from "./ListFiles.ts"
import { textOf } from "./ListFileText.ts"
import { relationsOf } from "./RelationQuery.ts"
import { ListKind, namesPosts, type Transfer } from "./Transfer.ts"
import { Transfers } from "./Transfers.ts"

/** Names and failed lines that a preview shows of each sort. */
const shownMax = 20

const countRows = rowsOf(Schema.Struct({ present: Schema.Int, unknown: Schema.Int, impossible: Schema.Int }))
const removedRows = rowsOf(Schema.Struct({ removed: Schema.Int }))
const impossibleRows = rowsOf(Schema.Struct({ place: Schema.Int, name: Schema.String, own: Schema.Boolean }))
const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))
/** Kinds whose lines name accounts. */
const namesAccounts: ReadonlySet<ListKind> = new Set(["follows", "blocks", "mutes", "lists"])
const isListKind = Schema.is(ListKind)

/** An uploaded file, and what its owner chose for it. */
interface GivenFile extends ImportOptions {
  readonly bytes: Uint8Array
  readonly fileName: string
  /** Undefined: the file tells its kind. */
  readonly kind: ListKind | undefined
}

/** Effects of an import before it is confirmed. */
export interface ImportPlan {
  readonly options: ImportOptions
  /** Lines to add, lines whose relation exists, lines that cannot be imported, and relations to remove if overwriting. */
  readonly added: number
  readonly present: number
  readonly failed: number
  readonly removed: number
  /** Lines about accounts or posts that are not known here; their servers will be asked. */
  readonly unknown: number
  /** First names of each sort. */
  readonly addedNames: ReadonlyArray<string>
  readonly removedNames: ReadonlyArray<string>
  readonly failures: ReadonlyArray<FailedLine>
}

/** Imports of a member's lists from files of this server and of others: read, then shown as a plan, then confirmed. */
export class FileImports extends Context.Service<FileImports, {
  /** Reads a file and stores its lines as an unconfirmed import, or, with `confirmed`, as one that starts at once. */
  readonly begin: (
    owner: AccountId,
    file: GivenFile,
    confirmed?: boolean
  ) => Effect.Effect<Transfer, Unprocessable>
  /** Returns the effects of an unconfirmed import; undefined for another transfer. */
  readonly plan: (transfer: Transfer) => Effect.Effect<ImportPlan | undefined>
}>()("murmuration/services/transfers/FileImports") {
  static readonly layer = Layer.effect(
    FileImports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const lines = yield* ImportLines
      const transfers = yield* Transfers

      const begin = traced("FileImports.begin")(function*(owner: AccountId, file: GivenFile, confirmed = false) {
        const { bytes, fileName, follow, overwrite } = file
        const { guessed, kind, lines: read } = yield* readFile(yield* textOf(bytes), fileName, file.kind, config)
        // An empty file, or one of another kind, must not remove everything.
        if (read.length === 0) return yield* validationFailed("Data can't be blank")
        const failed = read.filter(({ reason }) => reason !== undefined).length
        if (overwrite && failed === read.length) return yield* validationFailed("Data has no valid lines")
        const options: ImportOptions = {
          overwrite,
          follow,
          ...(guessed !== undefined && guessed !== kind && { seems: guessed })
        }
        return yield* transfers.begin(
          owner,
          {
            kind,
            source: fileName,
            options,
            total: read.length,
            failed,
            unconfirmed: !confirmed
          },
          (id): Effect.Effect<void, SqlError> => lines.add(id, read)
        )
      })

      const plan = traced("FileImports.plan")(function*(transfer: Transfer) {
        const { accountId, failed, id, kind, total } = transfer
        if (transfer.state !== "unconfirmed" || !isListKind(kind)) return undefined
        const options = yield* decodeOptions(transfer.options)
        const relations = relationsOf(sql, config, kind, accountId)
        const named = sql`EXISTS (SELECT FROM existing r WHERE r.name = l.name)`
        const isKnown = namesPosts(kind)
          ? sql`EXISTS (SELECT FROM statuses s WHERE s.uri = l.name)`
          : sql`EXISTS (SELECT FROM accounts a
            WHERE lower(a.username) = split_part(split_part(l.name, ' ', 1), '@', 1)
              AND lower(coalesce(a.domain, '')) = split_part(split_part(l.name, ' ', 1), '@', 2))`
        // Lines about local accounts that do not exist, or about the importing account.
        const isImpossible = namesAccounts.has(kind)
          ? sql`(l.host IS NULL AND NOT ${named} AND NOT EXISTS (SELECT FROM accounts a WHERE a.domain IS NULL
            AND a.suspended_at IS NULL AND lower(a.username) = split_part(split_part(l.name, ' ', 1), '@', 1)
            AND (a.id <> ${accountId} OR ${kind === "lists"})))`
          : sql`FALSE`
        const { impossible, present, unknown } = singleRow(
          yield* countRows(sql`WITH existing AS MATERIALIZED (${relations})
            SELECT count(*) FILTER (WHERE ${named})::int AS present,
              count(*) FILTER (WHERE l.host IS NOT NULL AND NOT ${isKnown})::int AS unknown,
              count(*) FILTER (WHERE ${isImpossible})::int AS impossible
            FROM transfer_lines l WHERE l.transfer_id = ${id} AND l.state = 'waiting'`)
        )
        const removals = sql`WITH existing AS MATERIALIZED (${relations}) SELECT r.id, r.name FROM existing r
          WHERE r.removable AND NOT EXISTS (SELECT FROM transfer_lines l WHERE l.transfer_id = ${id} AND l.name = r.name)`
        const { removed } = singleRow(
          yield* removedRows(sql`SELECT count(*)::int AS removed FROM (${removals}) removals`)
        )
        const addedNames = yield* nameRows(sql`WITH existing AS MATERIALIZED (${relations})
          SELECT l.name FROM transfer_lines l WHERE l.transfer_id = ${id} AND l.state = 'waiting' AND NOT ${named}
            AND NOT ${isImpossible}
          ORDER BY l.place LIMIT ${rowsMax(sql, shownMax)}`)
        const impossibleNames = yield* impossibleRows(sql`WITH existing AS MATERIALIZED (${relations})
          SELECT l.place, l.name, l.name IN (SELECT lower(a.username) || '@' || lower(${config.localDomain}::text)
            FROM accounts a WHERE a.id = ${accountId}) AS own
          FROM transfer_lines l WHERE l.transfer_id = ${id} AND l.state = 'waiting' AND ${isImpossible}
          ORDER BY l.place LIMIT ${rowsMax(sql, shownMax)}`)
        const removedNames = yield* nameRows(
          sql`SELECT name FROM (${removals}) removals ORDER BY id LIMIT ${rowsMax(sql, shownMax)}`
        )
        return {
          options,
          added: total - failed - present - impossible,
          present,
          failed: failed + impossible,
          removed,
          unknown,
          addedNames: addedNames.map(({ name }) => name),
          removedNames: removedNames.map(({ name }) => name),
          failures: [
            ...yield* lines.failures(id, -1, shownMax),
            ...impossibleNames.map(({ name, own, place }): FailedLine => ({
              place,
              name,
              details: {},
              reason: own ? "not_allowed" : "not_found"
            }))
          ].toSorted((one, other) => one.place - other.place).slice(0, shownMax)
        }
      }, Effect.orDie)

      return FileImports.of({ begin, plan })
    })
  ).pipe(Layer.provideMerge(ImportLines.layer), Layer.provideMerge(Transfers.layer))
}
