import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { lockAccount } from "../visibility/Pairs.ts"
import {
  keptMillis,
  keptTransfersMax,
  openMaxOf,
  openTransfersMax,
  sourceCharactersMax,
  type Transfer,
  type TransferKind,
  transferKinds,
  unconfirmedMillisMax
} from "./Transfer.ts"
import { hasNoSecrets, transferColumns, transferRows } from "./TransferRows.ts"

/** Maximum stored transfers of an account; each open one may become a final one. */
const storedTransfersMax = transferKinds.length * (keptTransfersMax + openTransfersMax)

const countRows = rowsOf(Schema.Struct({ open: Schema.Int, ofKind: Schema.Int }))

/** A transfer to begin. */
interface NewTransfer {
  readonly kind: TransferKind
  /** Name of the file or server that it reads from, for the owner; cut to `sourceCharactersMax`. */
  readonly source?: string
  /** JSON of the kind's options. */
  readonly options: object
  /** Entries to process. */
  readonly total: number
  /** Entries that cannot be processed. */
  readonly failed: number
  /** True if the owner must confirm its plan first. */
  readonly unconfirmed: boolean
}

/**
 * Imports and exports of local accounts: begun, confirmed and cancelled by their owners. `TransferQueue` runs them.
 * Accessible to their owners only.
 */
export class Transfers extends Context.Service<Transfers, {
  /**
   * Begins a transfer; `write` adds what belongs to it in the same transaction. Fails if the account has
   * `openTransfersMax` open ones, or `openMaxOf` its kind, or was deleted; deletes the oldest final ones of its kind beyond `keptTransfersMax`.
   */
  readonly begin: (
    owner: AccountId,
    transfer: NewTransfer,
    write?: (id: bigint) => Effect.Effect<void, SqlError>
  ) => Effect.Effect<Transfer, Unprocessable>
  /** Schedules an unconfirmed transfer, and sets the given ones of its options. Repeating it changes nothing. */
  readonly confirm: (owner: AccountId, id: bigint, options?: object) => Effect.Effect<Transfer, RecordNotFound>
  /**
   * Ends a transfer that is not final; what it has done remains. Returns the transfer, which keeps its secrets until
   * `LiveImports` has revoked its access to another server.
   */
  readonly cancel: (owner: AccountId, id: bigint) => Effect.Effect<Transfer, RecordNotFound>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<Transfer, RecordNotFound>
  /** Returns all transfers of the account, newest first. */
  readonly list: (owner: AccountId) => Effect.Effect<ReadonlyArray<Transfer>>
}>()("murmuration/services/transfers/Transfers") {
  static readonly layer = Layer.effect(
    Transfers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(transferColumns)
      const now = Effect.map(Clock.currentTimeMillis, (millis) => ({ millis, at: new Date(millis) }))

      const find = traced("Transfers.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* Effect.orDie(
          transferRows(sql`SELECT ${columns} FROM transfers WHERE id = ${id} AND account_id = ${owner}`)
        )
        return row ?? (yield* new RecordNotFound())
      })

      const requireTransferCapacity = Effect.fnUntraced(function*(owner: AccountId, kind: TransferKind) {
        yield* lockAccount(sql, owner)
        // A request, such as a long upload, may outlast its account; the purge has passed then.
        const deleted = yield* sql`SELECT FROM accounts a WHERE a.id = ${owner} AND a.suspended_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM users u WHERE u.account_id = a.id)`
        if (deleted.length > 0) return yield* validationFailed("The account was deleted")
        const { open, ofKind } = singleRow(
          yield* countRows(sql`SELECT count(*)::int AS open, (count(*) FILTER (WHERE kind = ${kind}))::int AS of_kind
            FROM transfers WHERE account_id = ${owner} AND state IN ('unconfirmed', 'scheduled', 'in_progress')`)
        )
        const max = ofKind >= openMaxOf(kind) ? openMaxOf(kind) : openTransfersMax
        if (open >= max) return yield* validationFailed(`Transfers are too many (maximum is ${max})`)
        yield* sql`DELETE FROM transfers WHERE account_id = ${owner} AND id IN (SELECT id FROM transfers
          WHERE account_id = ${owner} AND kind = ${kind} AND state IN ('finished', 'failed', 'cancelled')
            AND ${sql.literal(hasNoSecrets)} ORDER BY id DESC OFFSET ${rowsMax(sql, keptTransfersMax)})`
      })

      const begin: Transfers["Service"]["begin"] = (owner, transfer, write) =>
        Effect.gen(function*() {
          yield* requireTransferCapacity(owner, transfer.kind)
          const { at, millis } = yield* now
          const { failed, kind, options, source = "", total, unconfirmed } = transfer
          const stored = singleRow(
            yield* transferRows(sql`INSERT INTO transfers
                (id, account_id, kind, state, source, options, total, processed, failed, due_at, created_at, expires_at)
              VALUES (next_id(${millis}), ${owner}, ${kind}, ${unconfirmed ? "unconfirmed" : "scheduled"},
                ${Array.from(source.replaceAll("\0", "")).slice(0, sourceCharactersMax).join("")},
                ${JSON.stringify(options)}::jsonb, ${total}, ${failed}, ${failed}, ${at}, ${at},
                ${new Date(millis + (unconfirmed ? unconfirmedMillisMax : keptMillis))})
              RETURNING ${columns}`)
          )
          if (write !== undefined) yield* write(stored.id)
          return stored
        }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die), Effect.withSpan("Transfers.begin"))

      const confirm = traced("Transfers.confirm")(function*(owner: AccountId, id: bigint, options: object = {}) {
        const { at, millis } = yield* now
        yield* Effect.orDie(sql`UPDATE transfers SET state = 'scheduled', due_at = ${at},
            expires_at = ${new Date(millis + keptMillis)},
            options = options || ${JSON.stringify(options)}::jsonb
          WHERE id = ${id} AND account_id = ${owner} AND state = 'unconfirmed' AND expires_at > ${at}`)
        return yield* find(owner, id)
      })

      const cancel = traced("Transfers.cancel")(function*(owner: AccountId, id: bigint) {
        const { at, millis } = yield* now
        const ended = yield* Effect.orDie(idRows(sql`UPDATE transfers
          SET state = 'cancelled', finished_at = ${at}, due_at = ${at}, expires_at = ${new Date(millis + keptMillis)}
          WHERE id = ${id} AND account_id = ${owner} AND state IN ('unconfirmed', 'scheduled', 'in_progress')
          RETURNING id`))
        // Lines that failed remain, for their file.
        if (ended.length > 0) {
          yield* Effect.orDie(sql`DELETE FROM transfer_lines WHERE transfer_id = ${id} AND state <> 'failed'`)
        }
        return yield* find(owner, id)
      })

      return Transfers.of({
        begin,
        confirm,
        cancel,
        find,
        list: traced("Transfers.list")((owner: AccountId) =>
          Effect.orDie(transferRows(sql`SELECT ${columns} FROM transfers WHERE account_id = ${owner}
            ORDER BY id DESC LIMIT ${rowsMax(sql, storedTransfersMax)}`))
        )
      })
    })
  )
}
