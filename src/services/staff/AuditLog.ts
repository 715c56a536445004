import { Clock, Context, Data, Effect, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { NotAllowed, RecordNotFound, Unprocessable } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
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

type AnyAct = { readonly [Target in AuditTarget]: Act<Target> }[AuditTarget]
/** How staff are told that they cannot do something. */
export type Refusal = NotAllowed | RecordNotFound | Unprocessable

/**
 * Somebody else was faster: an act that finds done what it was for, and how who wanted it is told. It ends the transaction; the log
 * gets it afterwards, by `deciding` or `lost`, so that it has both sides.
 */
export class LostAct extends Data.TaggedError("LostAct")<{ readonly act: AnyAct; readonly refusal: Refusal }> {}
const isLost = (error: unknown): error is LostAct => error instanceof LostAct

/**
 * What staff did, by whom, on whom, before and after. Written in the transaction of the act, so that neither is without the
 * other; rows are never changed, which a trigger of the table holds.
 */
export class AuditLog extends Context.Service<AuditLog, {
  /** Inside the transaction of the act. */
  readonly record: <Target extends AuditTarget>(act: Act<Target>) => Effect.Effect<void, SqlError>
  /** After the transaction of an act that came second: writes down that it was refused, and refuses it. */
  readonly lost: (error: LostAct) => Effect.Effect<never, Refusal | SqlError>
  /** Does an act in a transaction of its own; one that comes second is in the log all the same. */
  readonly deciding: <A, E, R>(
    act: Effect.Effect<A, E | LostAct | SqlError, R>
  ) => Effect.Effect<A, E | Refusal, R>
}>()("murmuration/services/staff/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const record = traced("AuditLog.record")(
        function*<Target extends AuditTarget>({ action, after, before, by, target }: Act<Target>) {
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO audit_log
              (id, account_id, username, action, target_type, target_id, target_label, before, after, created_at)
            VALUES (next_id(${now}), ${by ?? null}, (SELECT username FROM accounts WHERE id = ${by ?? null}),
              ${action}, ${String.camelToSnake(target.type)}, ${target.id ?? null},
              ${target.label.slice(0, labelCharactersMax)}, ${stateText(before)}::jsonb, ${stateText(after)}::jsonb,
              ${new Date(now)})`
        }
      )
      const lost = traced("AuditLog.lost")(function*({ act, refusal }: LostAct) {
        yield* record({ ...act, after: { refused: refusal.message } })
        return yield* Effect.fail(refusal)
      })
      return AuditLog.of({
        record,
        lost,
        deciding: <A, E, R>(act: Effect.Effect<A, E | LostAct | SqlError, R>) =>
          Effect.catch(
            transaction(sql)(act),
            (error): Effect.Effect<never, E | Refusal> =>
              isLost(error)
                ? Effect.catchTag(lost(error), "SqlError", Effect.die)
                : isSqlError(error)
                ? Effect.die(error)
                : Effect.fail(error)
          )
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
