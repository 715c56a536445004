import { Clock, Effect, Schema } from "effect"
import type { RowWriter } from "../database/CachedTables.ts"
import * as Counters from "../database/Counters.ts"
import { accountIdRows, rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isBlockedEitherWay } from "../visibility/HiddenAccounts.ts"
import { lockPairs } from "../visibility/Pairs.ts"
import { isHeldPost } from "./HeldStatuses.ts"
import { QuoteRecord } from "./Statuses.ts"

export const QuoteState = QuoteRecord.fields.state
export type QuoteState = typeof QuoteState.Type

/** Quote with the fields that a decision about it needs. */
const Decided = Schema.Struct({
  statusId: Schema.BigInt,
  /** Quoting account. */
  accountId: Schema.BigInt,
  quotedStatusId: Schema.NullOr(Schema.BigInt),
  quotedAccountId: Schema.NullOr(Schema.BigInt),
  /** State before the decision. */
  before: QuoteState,
  /** True if the quoting post is local. */
  local: Schema.Boolean,
  /** True if the quoting post is held; its quote is counted, and told to the quoted author, once it is published. */
  held: Schema.Boolean
})
export type Decided = typeof Decided.Type
export const decidedRows = rowsOf(Decided)
const insertedRows = rowsOf(Schema.Struct({ held: Schema.Boolean }))

export interface NewQuote {
  readonly statusId: bigint
  readonly accountId: bigint
  readonly quotedStatusId: bigint | null
  readonly quotedAccountId: bigint | null
  /** Id of the quoted post, until it is stored here. */
  readonly quotedUri: string | null
  readonly state: QuoteState
  readonly legacy: boolean
  readonly authorizationUri: string | null
}

/** Writes quotes, unless a block separates the accounts; use only inside a transaction. */
export const make = ({ sql, tracked }: RowWriter) => {
  const separated = (one: bigint, other: bigint) =>
    Effect.map(
      sql`SELECT WHERE ${isBlockedEitherWay(sql, sql`${one}::bigint`, sql`${other}::bigint`)}`,
      (rows) => rows.length > 0
    )
  /** Locks the two accounts until the transaction ends, so that a block comes before or after it. */
  const mayQuote = Effect.fnUntraced(function*(account: bigint, quoted: bigint) {
    if (account === quoted) return true
    yield* lockPairs(sql, [[account, quoted]])
    return !(yield* separated(account, quoted))
  })

  const insert = traced("QuoteWrites.insert")(function*(quote: NewQuote) {
    const allowed = quote.quotedAccountId === null || (yield* mayQuote(quote.accountId, quote.quotedAccountId))
    const state = allowed ? quote.state : "rejected"
    const at = new Date(yield* Clock.currentTimeMillis)
    const [inserted] = yield* insertedRows(
      sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, quoted_uri,
        state, legacy, authorization_uri, created_at)
      VALUES (${quote.statusId}, ${quote.accountId}, ${quote.quotedStatusId}, ${quote.quotedAccountId}, ${quote.quotedUri},
        ${state}, ${quote.legacy}, ${quote.authorizationUri}, ${at})
      ON CONFLICT (status_id) DO NOTHING
      RETURNING (SELECT ${isHeldPost(sql, "s")} FROM statuses s WHERE s.id = quotes.status_id) AS held`
    )
    if (inserted?.held === false && state === "accepted" && quote.quotedStatusId !== null) {
      yield* Counters.count({ sql, tracked }, [], [{ statusId: quote.quotedStatusId, quotes: 1 }])
    }
    return allowed
  })

  const decided = traced("QuoteWrites.decided")(
    function*(
      statusId: bigint,
      quotedAuthor: bigint,
      from: ReadonlyArray<QuoteState>,
      to: QuoteState,
      authorizationUri?: string
    ) {
      if (to === "accepted") {
        const [quoting] = yield* accountIdRows(sql`SELECT account_id FROM quotes
          WHERE status_id = ${statusId} AND quoted_account_id = ${quotedAuthor}`)
        if (quoting === undefined || !(yield* mayQuote(quoting.accountId, quotedAuthor))) return undefined
      }
      const [quote] = yield* decidedRows(
        tracked("status", [statusId])(sql`
        WITH before AS MATERIALIZED (SELECT q.status_id, q.state, s.local, ${
          isHeldPost(sql, "s")
        } AS held FROM quotes q JOIN statuses s ON s.id = q.status_id
          WHERE q.status_id = ${statusId} AND q.quoted_account_id = ${quotedAuthor} AND q.state = ANY (${from}::text[])
            AND s.deleted_at IS NULL FOR UPDATE OF q)
        UPDATE quotes q SET state = ${to}, authorization_uri = coalesce(${
          authorizationUri ?? null
        }, q.authorization_uri)
        FROM before WHERE q.status_id = before.status_id
        RETURNING q.status_id, q.account_id, q.quoted_status_id, q.quoted_account_id, before.state AS before, before.local,
          before.held`)
      )
      if (quote === undefined) return undefined
      const change = (to === "accepted" ? 1 : 0) - (quote.before === "accepted" ? 1 : 0)
      if (change !== 0 && !quote.held && quote.quotedStatusId !== null) {
        yield* Counters.count({ sql, tracked }, [], [{ statusId: quote.quotedStatusId, quotes: change }])
      }
      return quote
    }
  )

  return { decided, insert }
}
