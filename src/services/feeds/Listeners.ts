import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { avoidingAmong } from "../visibility/HiddenAccounts.ts"

/** Maximum mentioned accounts that receive a status's edit. */
const mentionedMax = 1_000

/** Data about a status and the listeners, for its public streams and edits. */
interface DeliveryFacts {
  readonly authorId: AccountId
  /** Accounts that the status mentions, without silent mentions. */
  readonly mentioned: ReadonlyArray<AccountId>
  /** Listeners that do not get it on a public stream. */
  readonly withheld: ReadonlySet<bigint>
}

/**
 * Listeners of public streams that do not want a status (streaming.md section 5): its language is known and not among
 * their chosen ones, or it mentions an account that they block or mute. Rendering decides if they may see it, and if
 * they hide its author.
 */
export class Listeners extends Context.Service<Listeners, {
  /** Reads what decides the delivery to all listeners, in one query; undefined if the status no longer exists. */
  readonly deliveryFacts: (
    statusId: bigint,
    listeners: ReadonlyArray<AccountId>
  ) => Effect.Effect<DeliveryFacts | undefined>
  /** Returns the listeners whom an author blocks: they never saw the author's statuses. One query for all listeners. */
  readonly blockedBy: (
    author: AccountId,
    listeners: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlySet<bigint>>
}>()("murmuration/services/feeds/Listeners") {
  static readonly layer = Layer.effect(
    Listeners,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const reception = traced("Listeners.deliveryFacts")(
        function*(statusId: bigint, listeners: ReadonlyArray<AccountId>) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const [row] = yield* listenerRows(sql`
            SELECT s.account_id,
              ARRAY(SELECT account_id FROM mentions WHERE status_id = s.id AND NOT silent
                AND account_id <> s.account_id LIMIT ${mentionedMax}) AS mentioned,
              ARRAY(SELECT account_id FROM users WHERE account_id = ANY (l.ids)
                AND cardinality(chosen_languages) > 0 AND s.language <> ALL (chosen_languages)) ||
              ${sql.literal(avoidingAmong("l.ids", "named.ids", "l.now"))} AS withheld
            FROM (SELECT ${listeners}::bigint[] AS ids, ${now}::timestamptz AS now) l CROSS JOIN statuses s
            CROSS JOIN LATERAL (SELECT ARRAY(SELECT account_id FROM mentions
              WHERE status_id = s.id AND NOT silent) AS ids OFFSET 0) named
            WHERE s.id = ${statusId} AND s.deleted_at IS NULL`)
          return row === undefined ? undefined : {
            authorId: AccountId.make(row.accountId),
            mentioned: row.mentioned.map((id) => AccountId.make(id)),
            withheld: new Set(row.withheld)
          }
        },
        Effect.orDie
      )
      const blockedBy = traced("Listeners.blockedBy")(
        function*(author: AccountId, listeners: ReadonlyArray<AccountId>) {
          if (listeners.length === 0) return new Set<bigint>()
          const rows = yield* blockedRows(sql`SELECT target_account_id FROM blocks
            WHERE account_id = ${author} AND target_account_id = ANY (${listeners}::bigint[])`)
          return new Set(rows.map(({ targetAccountId }) => targetAccountId))
        },
        Effect.orDie
      )
      return Listeners.of({ deliveryFacts: reception, blockedBy })
    })
  )
}

const Row = Schema.Struct({
  accountId: Schema.BigInt,
  mentioned: Schema.Array(Schema.BigInt),
  withheld: Schema.Array(Schema.BigInt)
})
type Row = typeof Row.Type
const blockedRows = rowsOf(Schema.Struct({ targetAccountId: Schema.BigInt }))
const listenerRows = rowsOf(Row)
