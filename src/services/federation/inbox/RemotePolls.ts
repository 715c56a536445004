import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { traced } from "../../runtime/Traced.ts"
import type { ForeignPoll } from "../documents/ForeignPoll.ts"

const tallyRows = rowsOf(Schema.Struct({ expiresAt: Schema.NullOr(Timestamptz), voted: Schema.Boolean }))

/**
 * Remote polls; use only in the transaction of their author's actor. Counts are those that the poll's server states.
 * Local votes are stored separately, for their voters.
 */
export class RemotePolls extends Context.Service<RemotePolls, {
  /** Creates the poll of a new status. */
  readonly create: (statusId: bigint, poll: ForeignPoll) => Effect.Effect<void, SqlError>
  /**
   * Updates a poll's counts and end. Returns undefined if no poll has these options: other options mean another poll.
   * `voted`: a local account voted, and must be notified of an end that changed.
   */
  readonly tally: (
    statusId: bigint,
    poll: ForeignPoll
  ) => Effect.Effect<{ readonly voted: boolean } | undefined, SqlError>
  /** Applies an edit to a poll; undefined removes it. Changed options void all votes, local ones too (S-077). */
  readonly revise: (
    statusId: bigint,
    poll: ForeignPoll | undefined
  ) => Effect.Effect<{ readonly voted: boolean }, SqlError>
}>()("murmuration/services/federation/inbox/RemotePolls") {
  static readonly layer = Layer.effect(
    RemotePolls,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const endOf = ({ endsMillis }: ForeignPoll) => endsMillis === undefined ? null : new Date(endsMillis)

      const create = traced("RemotePolls.create")((statusId: bigint, poll: ForeignPoll) =>
        Effect.asVoid(
          sql`INSERT INTO polls (status_id, options, counts, voters_count, multiple, hide_totals, expires_at)
          VALUES (${statusId}, ${poll.options}::text[], ${poll.counts}::int[], ${poll.voters}, ${poll.multiple}, false,
            ${endOf(poll)})`
        )
      )

      const tally = traced("RemotePolls.tally")(function*(statusId: bigint, poll: ForeignPoll) {
        const [old] = yield* tallyRows(sql`
          SELECT expires_at, EXISTS (SELECT FROM poll_votes WHERE status_id = ${statusId}) AS voted FROM polls
          WHERE status_id = ${statusId} AND options = ${poll.options}::text[] AND multiple = ${poll.multiple} FOR UPDATE`)
        if (old === undefined) return undefined
        yield* tracked("status", [statusId])(
          sql`UPDATE polls SET counts = ${poll.counts}::int[], voters_count = ${poll.voters},
          expires_at = ${endOf(poll)} WHERE status_id = ${statusId}`
        )
        return { voted: old.voted && old.expiresAt?.getTime() !== poll.endsMillis }
      })

      const revise = traced("RemotePolls.revise")(function*(statusId: bigint, poll: ForeignPoll | undefined) {
        const same = poll === undefined ? undefined : yield* tally(statusId, poll)
        if (same !== undefined) return same
        yield* tracked("status", [statusId])(sql`DELETE FROM polls WHERE status_id = ${statusId}`)
        if (poll !== undefined) yield* create(statusId, poll)
        return { voted: false }
      })

      return RemotePolls.of({ create, tally, revise })
    })
  )
}
