import { Clock, Context, Data, Effect, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { transaction } from "../database/Transactions.ts"
import type { NotAllowed, RecordNotFound, Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { AuditAction, AuditTarget } from "./AuditActions.ts"

/**
 * Maximum characters of a target's label, and maximum bytes of its states as JSON; of a larger state only its size is
 * stored.
 */
const labelCharactersMax = 500
const stateBytesMax = 16_384

/**
 * An action of staff. `before` and `after` hold the changed values by their names in code, never secrets or e-mail
 * addresses.
 */
interface Act<Target extends AuditTarget> {
  /** Undefined for the server itself and the command line. */
  readonly by: AccountId | undefined
  readonly action: AuditAction<Target>
  readonly target: {
    readonly type: Target
    /** Absent if there is only one target of the type, such as the settings. */
    readonly id?: bigint | undefined
    /** Readable name: a handle, a domain or a title. */
    readonly label: string
  }
  readonly before?: State
  readonly after?: State
}

/** JSON values, ids and dates. */
type State = { readonly [name: string]: unknown }

type AnyAct = { readonly [Target in AuditTarget]: Act<Target> }[AuditTarget]
/** Errors that staff see for an action that is refused. */
export type Refusal = NotAllowed | RecordNotFound | Unprocessable

/**
 * An action that a colleague has done already, with the error for the second one. It aborts the transaction; afterwards
 * `runLogged` or `refuse` logs the attempt, so that the log has both sides.
 */
export class AlreadyDone extends Data.TaggedError("AlreadyDone")<{ readonly act: AnyAct; readonly refusal: Refusal }> {}
const isAlreadyDone = (error: unknown): error is AlreadyDone => error instanceof AlreadyDone

/**
 * Log of staff actions, with actor, target, and the state before and after. An entry is written in the transaction of
 * its action. A trigger of the table prevents changes.
 */
export class AuditLog extends Context.Service<AuditLog, {
  /** Records an action, inside its transaction. */
  readonly record: <Target extends AuditTarget>(act: Act<Target>) => Effect.Effect<void, SqlError>
  /** Records an `AlreadyDone` after its transaction, and fails with its error. */
  readonly refuse: (error: AlreadyDone) => Effect.Effect<never, Refusal | SqlError>
  /** Runs an action in its own transaction; an `AlreadyDone` is logged, too. */
  readonly runLogged: <A, E, R>(
    act: Effect.Effect<A, E | AlreadyDone | SqlError, R>
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
      const refuse = traced("AuditLog.refuse")(function*({ act, refusal }: AlreadyDone) {
        yield* record({ ...act, after: { refused: refusal.message } })
        return yield* Effect.fail(refusal)
      })
      return AuditLog.of({
        record,
        refuse,
        runLogged: <A, E, R>(act: Effect.Effect<A, E | AlreadyDone | SqlError, R>) =>
          Effect.catch(
            transaction(sql)(act),
            (error): Effect.Effect<never, E | Refusal> =>
              isAlreadyDone(error)
                ? Effect.catchTag(refuse(error), "SqlError", Effect.die)
                : isSqlError(error)
                ? Effect.die(error)
                : Effect.fail(error)
          )
      })
    })
  )
}

/** Removes NUL characters, which Postgres does not store in JSON. */
const withoutNul = (value: unknown) => typeof value === "string" ? value.replaceAll("\0", "") : value

const stateText = (state: State | undefined): string | null => {
  if (state === undefined) return null
  const text = JSON.stringify(state, (_, value: unknown) => typeof value === "bigint" ? `${value}` : withoutNul(value))
  const bytes = new TextEncoder().encode(text).length
  return bytes <= stateBytesMax ? text : JSON.stringify({ bytes })
}
