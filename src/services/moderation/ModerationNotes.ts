import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { exceeds } from "../html/Text.ts"
import { NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { outranks, requirePermission } from "../staff/Rank.ts"

/** Maximum characters of a note (limits-and-rates.md). */
const noteCharactersMax = 2_000
/** Maximum notes per account or report. */
const notesMax = 1_000

/** Subject of a note. */
export interface NoteTarget {
  readonly type: "account" | "report"
  readonly id: bigint
}

const ModerationNote = Schema.Struct({
  id: Schema.BigInt,
  /** Null if the author's account was deleted. */
  accountId: Schema.NullOr(Schema.BigInt),
  content: Schema.String,
  createdAt: Timestamptz
})
export type ModerationNote = typeof ModerationNote.Type
const noteRows = rowsOf(ModerationNote)
const positionRows = rowsOf(Schema.Struct({ position: Schema.Int }))

/** Notes of moderators about accounts and reports. */
export class ModerationNotes extends Context.Service<ModerationNotes, {
  readonly page: (target: NoteTarget, page: Page) => Effect.Effect<ReadonlyArray<ModerationNote>, RecordNotFound>
  readonly find: (target: NoteTarget, id: bigint) => Effect.Effect<ModerationNote, RecordNotFound>
  readonly create: (
    by: AccountId,
    target: NoteTarget,
    content: string
  ) => Effect.Effect<bigint, NotAllowed | RecordNotFound | Unprocessable>
  /** Removes a note of the moderator's own, or of someone with a lower role. */
  readonly remove: (
    by: AccountId,
    target: NoteTarget,
    id: bigint
  ) => Effect.Effect<void, NotAllowed | RecordNotFound>
}>()("murmuration/services/moderation/ModerationNotes") {
  static readonly layer = Layer.effect(
    ModerationNotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const standing = requirePermission(sql)
      const inTransaction = <A, E>(work: Effect.Effect<A, E>) =>
        transaction(sql)(work).pipe(Effect.catchIf(isSqlError, Effect.die))
      const columns = sql.literal("id, account_id, content, created_at")
      const about = ({ id, type }: NoteTarget): Fragment =>
        type === "report" ? sql`report_id = ${id}` : sql`target_account_id = ${id}`
      const logged = (target: NoteTarget, id: bigint) => ({
        type: target.type === "report" ? "reportNote" as const : "accountNote" as const,
        id,
        label: `${target.type} ${target.id}`
      })
      const allowed = (by: AccountId, { type }: NoteTarget) =>
        standing(by, type === "report" ? "manageReports" : ["manageUsers", "manageReports"])

      const requireTarget = Effect.fnUntraced(function*({ id, type }: NoteTarget) {
        const found = yield* sql`SELECT FROM ${
          sql.literal(type === "report" ? "reports" : "accounts")
        } WHERE id = ${id}`
        if (found.length === 0) return yield* new RecordNotFound()
      })
      const stored = Effect.fnUntraced(function*(target: NoteTarget, id: bigint) {
        const [note] = yield* noteRows(
          sql`SELECT ${columns} FROM moderation_notes WHERE id = ${id} AND ${about(target)}`
        )
        return note ?? (yield* new RecordNotFound())
      })

      const create = traced("ModerationNotes.create")(function*(by: AccountId, target: NoteTarget, content: string) {
        yield* allowed(by, target)
        yield* requireTarget(target)
        if (content.trim() === "") return yield* validationFailed("Content can't be blank")
        if (exceeds(content, noteCharactersMax)) {
          return yield* validationFailed(`Content is too long (maximum is ${noteCharactersMax} characters)`)
        }
        const now = yield* Clock.currentTimeMillis
        const [ofAccount, ofReport] = target.type === "report" ? [null, target.id] : [target.id, null]
        const counted = target.type === "report"
          ? sql`report_id = ${target.id}`
          : sql`target_account_id = ${target.id}`
        yield* requireCapacity(sql, { table: "moderation_notes", name: "Notes", max: notesMax, counted })
        const { id } = singleRow(
          yield* idRows(
            sql`INSERT INTO moderation_notes (id, account_id, target_account_id, report_id, content, created_at)
            VALUES (next_id(${now}), ${by}, ${ofAccount}, ${ofReport}, ${content}, ${new Date(now)}) RETURNING id`
          )
        )
        yield* log.record({ by, action: "create", target: logged(target, id), after: { content } })
        return id
      }, inTransaction)

      const remove = traced("ModerationNotes.remove")(function*(by: AccountId, target: NoteTarget, id: bigint) {
        const own = yield* allowed(by, target)
        const { accountId, content } = yield* stored(target, id)
        if (accountId !== by && accountId !== null) {
          const [author] = yield* positionRows(sql`SELECT r.position FROM users u JOIN roles r ON r.id = u.role_id
            WHERE u.account_id = ${accountId}`)
          if (author !== undefined && !outranks(own, author.position)) return yield* new NotAllowed({})
        }
        yield* sql`DELETE FROM moderation_notes WHERE id = ${id}`
        yield* log.record({ by, action: "destroy", target: logged(target, id), before: { accountId, content } })
      }, inTransaction)

      return ModerationNotes.of({
        page: traced("ModerationNotes.page")(function*(target, page) {
          yield* requireTarget(target)
          if (page.limit === 0) return []
          const { tail, where } = clauses(sql, "id", page)
          const rows = yield* noteRows(
            sql`SELECT ${columns} FROM moderation_notes WHERE ${about(target)} AND ${where} ${tail}`
          )
          return newestFirst(page, rows)
        }, Effect.catchIf(isSqlError, Effect.die)),
        find: traced("ModerationNotes.find")(stored, Effect.catchIf(isSqlError, Effect.die)),
        create,
        remove
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
