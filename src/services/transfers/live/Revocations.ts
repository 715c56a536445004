import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import type { RecordNotFound } from "../../runtime/Errors.ts"
import type { Transfer } from "../Transfer.ts"
import { transferColumns, transferRows } from "../TransferRows.ts"
import type { SourceFailed } from "./LiveSources.ts"

/** Maximum imports that one round ends, and maximum concurrent revocations. */
const endedMax = 50
const endedAtOnce = 8
/** Interval of requests to a server that does not respond, and time after which its token is given up, in milliseconds. */
const retryMillis = 600_000
const triedMillisMax = 86_400_000

interface Acts {
  /** Ends an import that is not final; returns it. */
  readonly cancel: (owner: AccountId, id: bigint) => Effect.Effect<Transfer, RecordNotFound>
  /** Revokes the token of an import, if it has one. Fails if the other server did not respond. */
  readonly revoke: (transfer: Transfer) => Effect.Effect<void, SourceFailed>
}

/**
 * Revokes tokens of imports that end. An ended import keeps its sealed secrets until the other server has revoked the
 * token, at most `triedMillisMax`: a node that dies repeats a revocation.
 */
export const make = ({ cancel, revoke: ask }: Acts, sql: SqlClient) => {
  const revoke = (transfer: Transfer) =>
    Effect.matchEffect(ask(transfer), {
      onFailure: () => Effect.succeed(false),
      onSuccess: () => Effect.succeed(true)
    })

  const forget = Effect.fnUntraced(function*(ended: Transfer) {
    const isRevoked = yield* revoke(ended)
    const now = yield* Clock.currentTimeMillis
    const isOver = isRevoked || (ended.finishedAt?.getTime() ?? now) <= now - triedMillisMax
    if (!isOver) {
      yield* sql`UPDATE transfers SET due_at = ${new Date(now + retryMillis)} WHERE id = ${ended.id}`
      return
    }
    if (!isRevoked) yield* Effect.logWarning(`the server of ${ended.source} did not revoke its token for a day`)
    yield* sql`UPDATE transfers SET options = options - 'secrets' WHERE id = ${ended.id}
      AND state IN ('finished', 'failed', 'cancelled')`
    // The purge of a deleted account leaves this row.
    yield* sql`DELETE FROM transfers t WHERE id = ${ended.id}
      AND EXISTS (SELECT FROM accounts a WHERE a.id = t.account_id AND a.suspended_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM users u WHERE u.account_id = t.account_id)`
  })

  const end = Effect.fnUntraced(function*({ accountId, id }: Transfer) {
    const ended = yield* cancel(accountId, id)
    yield* forget(ended)
  }, Effect.catchTag("RecordNotFound", () => Effect.void))

  const endAbandoned = Effect.gen(function*() {
    const now = new Date(yield* Clock.currentTimeMillis)
    const abandoned = yield* transferRows(sql`SELECT ${sql.literal(transferColumns)} FROM transfers t
      WHERE kind = 'live_in' AND options -> 'secrets' IS NOT NULL
        AND (state IN ('finished', 'failed', 'cancelled') AND due_at <= ${now}
          OR state = 'unconfirmed' AND expires_at <= ${now}
          OR state IN ('unconfirmed', 'scheduled', 'in_progress') AND EXISTS (SELECT FROM accounts a
            WHERE a.id = t.account_id AND a.suspended_at IS NOT NULL))
      ORDER BY due_at LIMIT ${rowsMax(sql, endedMax)}`)
    yield* Effect.forEach(abandoned, end, { concurrency: endedAtOnce, discard: true })
  }).pipe(Effect.withSpan("Revocations.endAbandoned"))

  return { endAbandoned, forget, revoke }
}
