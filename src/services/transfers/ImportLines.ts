import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { idRows, nullable, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { listsMax } from "../instance/ContentLimits.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import {
  type FailedLine,
  FailureReason,
  handleOf,
  type LineDetails,
  type NewLine,
  PersistedDetails,
  type Removal
} from "./ImportLine.ts"
import * as LookupPaces from "./LookupPaces.ts"
import { relationsOf } from "./RelationQuery.ts"
import { type ListKind, namesPosts, type Transfer } from "./Transfer.ts"

/** Lines that one statement inserts. */
const insertedMax = 2_000
/** Time for which an unreachable host is skipped, in milliseconds, and tries after which its lines fail. */
const skippedMillis = 5 * 60_000
const hostTriesMax = 3
/** Time for which the lines of other hosts precede those of a slow one, or of one with too many requests, in milliseconds. */
const postponedMillis = { slow: 10_000, busy: skippedMillis }
/** Pause of an import whose lines wait for look-ups at their hosts, in milliseconds. */
const pacedMillis = 10_000

const lineRows = rowsOf(Schema.Struct({
  place: Schema.Int,
  name: Schema.String,
  host: Schema.NullOr(Schema.String),
  details: Schema.Unknown,
  subjectId: Schema.NullOr(Schema.BigInt),
  present: Schema.NullOr(Schema.Boolean)
}))
const placeRows = rowsOf(Schema.Struct({ place: Schema.Int }))
const knownRows = rowsOf(Schema.Struct({ place: Schema.Int, subjectId: Schema.BigInt }))
const dueRows = rowsOf(Schema.Struct({ dueAt: Schema.NullOr(Timestamptz) }))
const failedRows = rowsOf(Schema.Struct({
  place: Schema.Int,
  name: Schema.String,
  details: Schema.Unknown,
  reason: FailureReason
}))
const removalRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    subjectId: Schema.NullOr(Schema.BigInt),
    name: Schema.String,
    list: Schema.String
  })
)

/** A stored line. */
export interface ImportLine {
  readonly place: number
  readonly name: string
  readonly host: string | null
  readonly details: LineDetails
  /** Account or status that the line names, if looked up; undefined for kinds without one. */
  readonly subjectId: bigint | undefined
  /** True if the relation existed before the line was processed; undefined if not checked yet. */
  readonly present: boolean | undefined
}

/** An import of lines. */
export type LineImport = Pick<Transfer, "accountId" | "id"> & { readonly kind: ListKind }

/** Lines of imported files. Writes belong to the transaction of `TransferQueue.commit` or `Transfers.begin`. */
export class ImportLines extends Context.Service<ImportLines, {
  /** Stores lines of an import, whose places begin after `from`, 0 by default. */
  readonly add: (transferId: bigint, lines: ReadonlyArray<NewLine>, from?: number) => Effect.Effect<void, SqlError>
  /** Gives the waiting lines after the place `from`, at most `linesMax` places, to another import. */
  readonly move: (transferId: bigint, to: bigint, from: number, linesMax: number) => Effect.Effect<void, SqlError>
  /**
   * Returns due lines in order, without those of hosts at which look-ups must wait; with `unchecked`, only those whose
   * `present` is unknown.
   */
  readonly due: (
    transferId: bigint,
    linesMax: number,
    unchecked: boolean
  ) => Effect.Effect<ReadonlyArray<ImportLine>, SqlError>
  /**
   * Returns the time at which the next waiting line is due if none is now, in milliseconds since 1970; undefined if none
   * waits. With `unchecked`, only lines whose `present` is unknown count.
   */
  readonly nextDue: (transferId: bigint, unchecked: boolean) => Effect.Effect<number | undefined, SqlError>
  /** Returns the accounts behind handles that are known here, by the lines' places. */
  readonly knownAccounts: (
    lines: ReadonlyArray<ImportLine>
  ) => Effect.Effect<ReadonlyMap<number, bigint>, SqlError>
  /** Stores subjects by place, and for these lines whether the relation exists already. */
  readonly check: (
    transfer: LineImport,
    places: ReadonlyArray<number>,
    subjects: ReadonlyMap<number, bigint>
  ) => Effect.Effect<void, SqlError>
  /** Marks waiting lines done. */
  readonly finish: (transferId: bigint, places: ReadonlyArray<number>) => Effect.Effect<void, SqlError>
  /** Marks waiting lines failed. */
  readonly fail: (
    transferId: bigint,
    failures: ReadonlyArray<{ readonly place: number; readonly reason: FailureReason }>
  ) => Effect.Effect<void, SqlError>
  /** Skips the waiting lines of unreachable hosts for minutes; returns the lines that fail after the last try. */
  readonly skipHosts: (
    transferId: bigint,
    hosts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<number>, SqlError>
  /**
   * Postpones the waiting lines of slow hosts for seconds, so that the lines of other hosts do not wait for them; those of
   * hosts that became `busy`, for minutes. Does not count as a try, because the host responded.
   */
  readonly postpone: (
    transferId: bigint,
    hosts: ReadonlyArray<string>,
    reason: keyof typeof postponedMillis
  ) => Effect.Effect<void, SqlError>
  /**
   * Returns removable relations after the cursor `after` that no line names, in order of their ids; none of a host that
   * did not respond, as its lines may name them by another address.
   */
  readonly removals: (
    transfer: LineImport,
    after: bigint,
    removalsMax: number
  ) => Effect.Effect<ReadonlyArray<Removal>, SqlError>
  /** Returns lists of the account without members and hashtags whose title no line has. */
  readonly unnamedLists: (transfer: LineImport) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  /** Returns failed lines after the place `after`, in order. */
  readonly failures: (
    transferId: bigint,
    after: number,
    linesMax: number
  ) => Effect.Effect<ReadonlyArray<FailedLine>, SqlError>
}>()("murmuration/services/transfers/ImportLines") {
  static readonly layer = Layer.effect(
    ImportLines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const relations = ({ accountId, kind }: LineImport) => relationsOf(sql, config, kind, accountId)
      const onlyUnchecked = (unchecked: boolean) => unchecked ? sql`present IS NULL` : sql`TRUE`
      const waiting = (transferId: bigint, places: ReadonlyArray<number>) =>
        sql`transfer_id = ${transferId} AND place = ANY (${places}::integer[]) AND state = 'waiting'`

      /** Host of a relation's name, which is a URL or `name@domain` before the title of a list. */
      const hostOf = (kind: ListKind) =>
        namesPosts(kind)
          ? sql`split_part(r.name, '/', 3)`
          : sql`split_part(split_part(r.name, ' ', 1), '@', 2)`

      const add = traced("ImportLines.add")(function*(
        transferId: bigint,
        lines: ReadonlyArray<NewLine>,
        from = 0
      ) {
        const dueAt = yield* now
        for (let at = 0; at < lines.length; at += insertedMax) {
          const slice = lines.slice(at, at + insertedMax)
          const details = yield* Effect.forEach(slice, (line) => PersistedDetails.encode(line.details))
          yield* sql`INSERT INTO transfer_lines (transfer_id, place, name, host, details, state, reason, due_at)
            SELECT ${transferId}::bigint, ${from + at}::integer + g.place::integer, g.name, g.host, g.details::jsonb,
              CASE WHEN g.reason IS NULL THEN 'waiting' ELSE 'failed' END, g.reason, ${dueAt}::timestamptz
            FROM unnest(${slice.map(({ name }) => name)}::text[],
              ${nullable(slice.map(({ host }) => host))}::text[], ${details}::text[],
              ${nullable(slice.map(({ reason }) => reason ?? null))}::text[])
              WITH ORDINALITY AS g (name, host, details, reason, place)`
          yield* Effect.yieldNow
        }
      })

      const due = traced("ImportLines.due")(function*(transferId: bigint, linesMax: number, unchecked: boolean) {
        const at = yield* now
        const paced = LookupPaces.mustWait(sql, sql`transfer_lines.host`, at.getTime())
        const rows = yield* lineRows(sql`SELECT place, name, host, details, subject_id, present FROM transfer_lines
          WHERE transfer_id = ${transferId} AND state = 'waiting' AND due_at <= ${at}
            AND ${onlyUnchecked(unchecked)} AND (subject_id IS NOT NULL OR NOT ${paced})
          ORDER BY place LIMIT ${rowsMax(sql, linesMax)}`)
        return yield* Effect.forEach(
          rows,
          ({ details, present, subjectId, ...line }) =>
            Effect.map(PersistedDetails.decode(details), (read): ImportLine => ({
              ...line,
              details: read,
              subjectId: subjectId ?? undefined,
              present: present ?? undefined
            }))
        )
      })

      const knownAccounts = traced("ImportLines.knownAccounts")(function*(lines: ReadonlyArray<ImportLine>) {
        const rows = yield* knownRows(sql`SELECT g.place, a.id AS subject_id
          FROM unnest(${lines.map(({ place }) => place)}::integer[],
            ${lines.map(({ name }) => handleOf(name))}::text[]) AS g (place, handle)
          JOIN accounts a ON lower(a.username) = split_part(g.handle, '@', 1)
            AND lower(coalesce(a.domain, '')) =
              CASE split_part(g.handle, '@', 2) WHEN ${config.localDomain} THEN '' ELSE split_part(g.handle, '@', 2) END`)
        return new Map(rows.map(({ place, subjectId }) => [place, subjectId]))
      })

      return ImportLines.of({
        add,
        due,
        nextDue: traced("ImportLines.nextDue")((transferId: bigint, unchecked: boolean) =>
          Effect.map(
            dueRows(sql`SELECT min(due_at) AS due_at FROM transfer_lines
              WHERE transfer_id = ${transferId} AND state = 'waiting' AND ${onlyUnchecked(unchecked)}`),
            (rows) => singleRow(rows).dueAt?.getTime()
          ).pipe(Effect.flatMap((dueAt) =>
            // A line that is due waits for its host.
            Effect.map(now, (at) => dueAt === undefined ? undefined : Math.max(dueAt, at.getTime() + pacedMillis))
          ))
        ),
        knownAccounts,
        check: traced("ImportLines.check")(
          function*(transfer: LineImport, places: ReadonlyArray<number>, subjects: ReadonlyMap<number, bigint>) {
            yield* sql`UPDATE transfer_lines l SET subject_id = g.subject_id
              FROM unnest(${[...subjects.keys()]}::integer[], ${[...subjects.values()]}::bigint[])
                AS g (place, subject_id)
              WHERE l.transfer_id = ${transfer.id} AND l.place = g.place AND l.state = 'waiting'`
            yield* sql`UPDATE transfer_lines l SET present = EXISTS (SELECT FROM (${relations(transfer)}) r
                WHERE (r.subject_id = l.subject_id OR (l.subject_id IS NULL AND r.name = l.name))
                  AND r.list = coalesce(l.details ->> 'list', ''))
              WHERE l.transfer_id = ${transfer.id} AND l.place = ANY (${places}::integer[]) AND l.state = 'waiting'`
          }
        ),
        move: traced("ImportLines.move")((transferId, to, from, linesMax) =>
          Effect.asVoid(sql`UPDATE transfer_lines SET transfer_id = ${to}
            WHERE transfer_id = ${transferId} AND place > ${from} AND place <= ${from + linesMax}`)
        ),
        finish: traced("ImportLines.finish")((transferId: bigint, places: ReadonlyArray<number>) =>
          Effect.asVoid(sql`UPDATE transfer_lines SET state = 'done' WHERE ${waiting(transferId, places)}`)
        ),
        fail: traced("ImportLines.fail")((transferId, failures) =>
          Effect.asVoid(sql`UPDATE transfer_lines l SET state = 'failed', reason = g.reason
            FROM unnest(${failures.map(({ place }) => place)}::integer[],
              ${failures.map(({ reason }) => reason)}::text[]) AS g (place, reason)
            WHERE l.transfer_id = ${transferId} AND l.place = g.place AND l.state = 'waiting'`)
        ),
        skipHosts: traced("ImportLines.skipHosts")(function*(transferId: bigint, hosts: ReadonlyArray<string>) {
          const dueAt = new Date((yield* now).getTime() + skippedMillis)
          const rows = yield* placeRows(sql`WITH skipped AS (UPDATE transfer_lines
              SET tries = tries + 1, due_at = ${dueAt}
              WHERE transfer_id = ${transferId} AND state = 'waiting' AND subject_id IS NULL
                AND host = ANY (${hosts}::text[])
              RETURNING place, tries)
            SELECT place FROM skipped WHERE tries >= ${hostTriesMax}`)
          return rows.map(({ place }) => place)
        }),
        postpone: traced("ImportLines.postpone")(function*(transferId, hosts, reason) {
          const dueAt = new Date((yield* now).getTime() + postponedMillis[reason])
          yield* sql`UPDATE transfer_lines SET due_at = ${dueAt}, tries = CASE WHEN ${
            reason === "busy"
          } THEN 0 ELSE tries END
            WHERE transfer_id = ${transferId} AND state = 'waiting' AND subject_id IS NULL AND host = ANY (${hosts}::text[])`
        }),
        removals: traced("ImportLines.removals")((transfer: LineImport, after: bigint, removalsMax: number) =>
          removalRows(sql`SELECT r.id, r.subject_id, r.name, r.list FROM (${relations(transfer)}) r
            WHERE r.removable AND r.id > ${after}
              AND NOT EXISTS (SELECT FROM transfer_lines l WHERE l.transfer_id = ${transfer.id} AND l.name = r.name)
              AND NOT EXISTS (SELECT FROM transfer_lines l WHERE l.transfer_id = ${transfer.id}
                AND l.subject_id = r.subject_id AND coalesce(l.details ->> 'list', '') = r.list)
              AND NOT EXISTS (SELECT FROM transfer_lines l WHERE l.transfer_id = ${transfer.id}
                AND l.state = 'failed' AND l.reason = 'unreachable' AND l.host = ${hostOf(transfer.kind)})
            ORDER BY r.id LIMIT ${rowsMax(sql, removalsMax)}`)
        ),
        unnamedLists: traced("ImportLines.unnamedLists")(({ accountId, id }: LineImport) =>
          Effect.map(
            idRows(sql`SELECT l.id FROM lists l WHERE l.account_id = ${accountId}
              AND NOT EXISTS (SELECT FROM list_accounts m WHERE m.list_id = l.id)
              AND NOT EXISTS (SELECT FROM list_tags m WHERE m.list_id = l.id)
              AND NOT EXISTS (SELECT FROM transfer_lines t
                WHERE t.transfer_id = ${id} AND t.details ->> 'list' = l.title)
              ORDER BY l.id LIMIT ${rowsMax(sql, listsMax)}`),
            (rows) => rows.map(({ id }) => id)
          )
        ),
        failures: traced("ImportLines.failures")(
          function*(transferId: bigint, after: number, linesMax: number) {
            const rows = yield* failedRows(sql`SELECT place, name, details, reason FROM transfer_lines
              WHERE transfer_id = ${transferId} AND state = 'failed' AND place > ${after}
              ORDER BY place LIMIT ${rowsMax(sql, linesMax)}`)
            return yield* Effect.forEach(
              rows,
              ({ details, ...line }) =>
                Effect.map(PersistedDetails.decode(details), (read): FailedLine => ({ ...line, details: read }))
            )
          }
        )
      })
    })
  )
}
