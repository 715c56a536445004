import { Clock, Context, Effect, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { traced } from "../Traced.ts"
import type { AuditAction, AuditTarget } from "./AuditActions.ts"

/** Characters of a target's label, and bytes of what it was and became as JSON; of more only the size is kept. */
const labelCharactersMax = 500
const stateBytesMax = 16_384

/** An act of staff. `before` and `after` hold what it changed, by the names of the program; secrets and addresses of mail never. */
interface Act<Target extends AuditTarget> {
  /** Undefined for the server itself and the command line. */
  readonly by: AccountId | undefined
  readonly action: AuditAction<Target>
  readonly target: {
    readonly type: Target
    /** Absent where there is only one, as of settings. */
    readonly id?: bigint | undefined
    /** As people know it: a handle, a domain, a name. */
    readonly label: string
  }
  readonly before?: State
  readonly after?: State
}

/** Values that JSON has, and ids and moments. */
type State = { readonly [name: string]: unknown }

/**
 * What staff did, by whom, on whom, before and after. Written in the transaction of the act, so that neither is without the
 * other; rows are never changed, which a trigger of the table holds.
 */
export class AuditLog extends Context.Service<AuditLog, {
  /** Inside the transaction of the act. */
  readonly record: <Target extends AuditTarget>(act: Act<Target>) => Effect.Effect<void, SqlError>
}>()("murmuration/services/staff/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return AuditLog.of({
        record: traced("AuditLog.record")(function*({ action, after, before, by, target }) {
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO audit_log
              (id, account_id, username, action, target_type, target_id, target_label, before, after, created_at)
            VALUES (next_id(${now}), ${by ?? null}, (SELECT username FROM accounts WHERE id = ${by ?? null}),
              ${action}, ${String.camelToSnake(target.type)}, ${target.id ?? null},
              ${target.label.slice(0, labelCharactersMax)}, ${stateText(before)}::jsonb, ${stateText(after)}::jsonb,
              ${new Date(now)})`
        })
      })
    })
  )
}

/** Postgres keeps no NUL in JSON. */
const withoutNul = (value: unknown) => typeof value === "string" ? value.replaceAll("\0", "") : value

const stateText = (state: State | undefined): string | null => {
  if (state === undefined) return null
  const text = JSON.stringify(state, (_, value: unknown) => typeof value === "bigint" ? `${value}` : withoutNul(value))
  const bytes = new TextEncoder().encode(text).length
  return bytes <= stateBytesMax ? text : JSON.stringify({ bytes })
}
