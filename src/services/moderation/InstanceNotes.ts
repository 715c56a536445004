import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { validDomain } from "../federation/domains/RuledDomain.ts"
import { exceeds } from "../html/Text.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"

/** Maximum characters of a note, and maximum notes per server. */
const contentCharactersMax = 2_000
const notesMax = 1_000

const InstanceNote = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.String,
  /** Null if the author was deleted. */
  accountId: Schema.NullOr(Schema.BigInt),
  content: Schema.String,
  createdAt: Timestamptz
})
export type InstanceNote = typeof InstanceNote.Type
const noteRows = rowsOf(InstanceNote)

/** Staff notes about other servers. */
export class InstanceNotes extends Context.Service<InstanceNotes, {
  readonly page: (domain: string, page: Page) => Effect.Effect<ReadonlyArray<InstanceNote>, Unprocessable>
  readonly create: (by: AccountId, domain: string, content: string) => Effect.Effect<InstanceNote, Unprocessable>
  /** Removes a note; staff may remove each other's notes, which is in the audit log. */
  readonly remove: (by: AccountId, domain: string, id: bigint) => Effect.Effect<void, Unprocessable | RecordNotFound>
}>()("murmuration/services/moderation/InstanceNotes") {
  static readonly layer = Layer.effect(
    InstanceNotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const target = ({ domain, id }: InstanceNote) => ({ type: "instanceNote", id, label: domain }) as const

      return InstanceNotes.of({
        page: traced("InstanceNotes.page")(function*(text, page) {
          const domain = yield* validDomain(text)
          const { tail, where } = clauses(sql, "id", page)
          const rows = yield* Effect.orDie(
            noteRows(sql`SELECT * FROM instance_notes WHERE domain = ${domain} AND ${where} ${tail}`)
          )
          return newestFirst(page, rows)
        }),
        create: traced("InstanceNotes.create")(function*(by, text, content) {
          const domain = yield* validDomain(text)
          if (content.trim() === "") return yield* validationFailed("Content can't be blank")
          if (exceeds(content, contentCharactersMax)) {
            return yield* validationFailed(`Content is too long (maximum is ${contentCharactersMax} characters)`)
          }
          const now = yield* Clock.currentTimeMillis
          return yield* transaction(sql)(Effect.gen(function*() {
            const counted = sql`domain = ${domain}`
            yield* requireCapacity(sql, { table: "instance_notes", name: "Notes", max: notesMax, counted })
            const note = singleRow(
              yield* noteRows(sql`INSERT INTO instance_notes (id, domain, account_id, content, created_at)
                VALUES (next_id(${now}), ${domain}, ${by}, ${content.trim()}, ${new Date(now)}) RETURNING *`)
            )
            yield* audit.record({ by, action: "create", target: target(note), after: { content: note.content } })
            return note
          })).pipe(Effect.catchTag("SqlError", Effect.die))
        }),
        remove: traced("InstanceNotes.remove")(function*(by, text, id) {
          const domain = yield* validDomain(text)
          return yield* transaction(sql)(Effect.gen(function*() {
            const [note] = yield* noteRows(
              sql`DELETE FROM instance_notes WHERE id = ${id} AND domain = ${domain} RETURNING *`
            )
            if (note === undefined) return yield* new RecordNotFound()
            yield* audit.record({ by, action: "destroy", target: target(note), before: { content: note.content } })
          })).pipe(Effect.catchTag("SqlError", Effect.die))
        })
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
