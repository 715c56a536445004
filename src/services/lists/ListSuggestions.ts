import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { DomainAllows } from "../federation/domains/DomainAllows.ts"
import { DomainBlocks } from "../federation/domains/DomainBlocks.ts"
import { validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog, type Refusal } from "../staff/AuditLog.ts"
import { staffRows } from "../staff/StaffRows.ts"
import { severityOf } from "./ListDecision.ts"
import { ListAction } from "./ListEntry.ts"

const suggestionStates = ["new", "applied", "dismissed"] as const
const Suggestion = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.String,
  action: Schema.Union([ListAction, Schema.Literal("retract")]),
  state: Schema.Literals(suggestionStates),
  listId: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz
})
export type Suggestion = typeof Suggestion.Type
const suggestionRows = rowsOf(Suggestion)

/** Suggestions of lists, for staff to decide. */
export class Suggestions extends Context.Service<Suggestions, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<Suggestion>>
  /** Number of open suggestions, by `boundedCount`. */
  readonly total: Effect.Effect<number>
  /** Applies a suggestion; one that ends follows fails unless `confirmed`. */
  readonly apply: (
    by: AccountId,
    id: bigint,
    confirmed: boolean
  ) => Effect.Effect<Suggestion, Refusal>
  /** Dismisses all open suggestions about the same domain; lists do not repeat them. */
  readonly dismiss: (by: AccountId, id: bigint) => Effect.Effect<Suggestion, Refusal>
}>()("murmuration/services/lists/Suggestions") {
  static readonly layer = Layer.effect(
    Suggestions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const allows = yield* DomainAllows
      const audit = yield* AuditLog
      const blocks = yield* DomainBlocks
      const table = staffRows(sql, "moderation_suggestions", suggestionRows)
      const target = ({ domain, id }: Suggestion) => ({ type: "moderationSuggestion", id, label: domain }) as const

      /** Locks an open suggestion; fails with `AlreadyDone` if it was decided in the meantime. */
      const open = Effect.fnUntraced(function*(id: bigint, by: AccountId, action: "apply" | "dismiss") {
        const found = yield* table.take(id)
        if (found.state === "new") return found
        const refusal = validationFailed("Suggestion has already been taken")
        return yield* new AlreadyDone({ act: { by, action, target: target(found) }, refusal })
      })
      const decided = (found: Suggestion, by: AccountId, action: "apply" | "dismiss") =>
        audit.record({ by, action, target: target(found), after: { suggested: found.action, listId: found.listId } })

      const carryOut = Effect.fnUntraced(function*({ action, domain, listId }: Suggestion, by: AccountId) {
        const severity = action === "retract" ? undefined : severityOf(action)
        if (severity === undefined) {
          yield* blocks.unblock(domain, by)
          yield* allows.disallow(domain, by)
        } else if (severity === "allow") {
          yield* allows.allow(domain, { by, listId: listId ?? undefined, confirmed: true })
        } else yield* blocks.block(domain, { severity, listId, confirmed: true }, by)
      })

      return Suggestions.of({
        page: traced("Suggestions.page")((page) => {
          const { tail, where } = clauses(sql, "id", page)
          return suggestionRows(sql`SELECT * FROM moderation_suggestions WHERE state = 'new' AND ${where} ${tail}`)
            .pipe(
              Effect.map((rows) => newestFirst(page, rows)),
              Effect.orDie
            )
        }),
        total: boundedCount(sql)(sql`SELECT FROM moderation_suggestions WHERE state = 'new'`),
        apply: traced("Suggestions.apply")((by, id, confirmed) =>
          audit.runLogged(Effect.gen(function*() {
            const found = yield* open(id, by, "apply")
            if (found.action === "reject" && !confirmed) return yield* validationFailed("Confirmation must be accepted")
            yield* carryOut(found, by)
            yield* sql`UPDATE moderation_suggestions SET state = 'applied' WHERE domain = ${found.domain} AND state = 'new'`
            yield* decided(found, by, "apply")
            return { ...found, state: "applied" as const }
          }))
        ),
        dismiss: traced("Suggestions.dismiss")((by, id) =>
          audit.runLogged(Effect.gen(function*() {
            const found = yield* open(id, by, "dismiss")
            yield* sql`UPDATE moderation_suggestions SET state = 'dismissed' WHERE domain = ${found.domain} AND state = 'new'`
            // Staff who keep a rule that its list retracted take it over.
            if (found.action === "retract") {
              yield* tracked("domains")(sql`UPDATE domain_blocks SET list_id = NULL WHERE domain = ${found.domain}`)
              yield* tracked("domains")(sql`UPDATE domain_allows SET list_id = NULL WHERE domain = ${found.domain}`)
            }
            yield* decided(found, by, "dismiss")
            return { ...found, state: "dismissed" as const }
          }))
        )
      })
    })
  ).pipe(Layer.provide([AuditLog.layer, DomainAllows.layer, DomainBlocks.layer]))
}
