import { Clock, Deferred, Effect, type Scope } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { rowsMax } from "../../Paging.ts"

/** Activities of one sender that may wait; more are for later. */
export const waitingPerSenderMax = 1_000
/** Activities that one statement writes down. */
const recordedAtOnceMax = 100
/** Characters of an id that is kept as it is; a longer one by its hash. */
const uriCharactersMax = 2_000

interface Arrived {
  readonly accountId: bigint
  readonly uri: string
  readonly document: string
  readonly kept: Deferred.Deferred<boolean, SqlError>
}

/** What an activity is known by. An id that Postgres would not take stands for itself by its hash, too. */
const keyOf = (uri: string | undefined, document: string) =>
  uri !== undefined && uri.length <= uriCharactersMax && !uri.includes("\0") && uri.isWellFormed()
    ? uri
    : `sha256:${hash("sha256", uri ?? document)}`

/**
 * Writes activities down, in the order in which they came: whatever arrives while one statement is under way is the next
 * one's, so that a flood takes few statements and nobody waits for company. An activity is kept before the caller goes on;
 * one of an account that is gone by now has no effect.
 */
export const make = (sql: SqlClient): Effect.Effect<
  (accountId: bigint, uri: string | undefined, document: string) => Effect.Effect<boolean, SqlError>,
  never,
  Scope.Scope
> =>
  Effect.map(Effect.scope, (scope) => {
    const arrived: Array<Arrived> = []
    let writing = false

    /** Answers the senders who have too much waiting. */
    const write = Effect.fnUntraced(function*(batch: ReadonlyArray<Arrived>) {
      const at = new Date(yield* Clock.currentTimeMillis)
      const rows = yield* sql<{ accountId: bigint }>`
        WITH given AS (SELECT * FROM unnest(${batch.map(({ accountId }) => accountId)}::bigint[],
            ${batch.map(({ uri }) => uri)}::text[], ${batch.map(({ document }) => document)}::text[])
          WITH ORDINALITY AS g (account_id, uri, document, place)),
        full_senders AS (SELECT s.account_id FROM (SELECT DISTINCT account_id FROM given) s
          WHERE (SELECT count(*) FROM (SELECT FROM inbound_activities w
            WHERE w.account_id = s.account_id AND w.outcome IS NULL LIMIT ${rowsMax(sql, waitingPerSenderMax)}) w)
            >= ${waitingPerSenderMax}),
        made AS (INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at)
          SELECT next_id(${at.getTime()}), a.id, g.uri, document, ${at}, ${at} FROM given g JOIN accounts a ON a.id = g.account_id
          WHERE account_id NOT IN (SELECT account_id FROM full_senders) ORDER BY place
          ON CONFLICT (account_id, uri) DO NOTHING)
        SELECT account_id FROM full_senders`
      return new Set(rows.map(({ accountId }) => accountId))
    })

    const settle = (batch: ReadonlyArray<Arrived>): Effect.Effect<void> =>
      Effect.matchEffect(write(batch), {
        onSuccess: (full) =>
          Effect.forEach(batch, ({ accountId, kept }) => Deferred.succeed(kept, !full.has(accountId)), {
            discard: true
          }),
        // One that cannot be written must not keep the others out.
        onFailure: (error) =>
          batch.length === 1
            ? Effect.forEach(batch, ({ kept }) => Deferred.fail(kept, error), { discard: true })
            : Effect.forEach(batch, (one) => settle([one]), { discard: true, concurrency: "unbounded" })
      })

    const drain = Effect.gen(function*() {
      while (arrived.length > 0) {
        const batch = arrived.splice(0, recordedAtOnceMax)
        yield* settle(batch).pipe(
          Effect.catchCause((cause) =>
            Effect.forEach(batch, ({ kept }) => Deferred.failCause(kept, cause), { discard: true })
          )
        )
      }
      // In the same turn in which nothing more was found, so that whoever comes next begins anew.
      writing = false
    })

    return (accountId, uri, document) =>
      Effect.suspend(() => {
        const kept = Deferred.makeUnsafe<boolean, SqlError>()
        arrived.push({ accountId, uri: keyOf(uri, document), document, kept })
        if (writing) return Deferred.await(kept)
        writing = true
        return Effect.andThen(Effect.forkIn(drain, scope), Deferred.await(kept))
      })
  })
