import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { boundedCount } from "../database/BoundedCounts.ts"
import { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import { exceeds } from "../html/Text.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AppealState, StrikeAction } from "./Strike.ts"

/** Days after a strike in which it can be appealed, and maximum characters of an appeal (limits-and-rates.md). */
export const appealDaysMax = 20
export const appealCharactersMax = 2_000

const Appeal = Schema.Struct({
  id: Schema.BigInt,
  strikeId: Schema.BigInt,
  accountId: AccountId,
  text: Schema.String,
  state: AppealState,
  createdAt: Timestamptz,
  decidedByAccountId: Schema.NullOr(Schema.BigInt)
})
export type Appeal = typeof Appeal.Type
const appealRows = rowsOf(Appeal)

/** Strike whose appeal was decided. */
const DecidedStrike = Schema.Struct({
  strikeId: Schema.BigInt,
  action: StrikeAction,
  statusIds: Schema.Array(Schema.BigInt),
  collectionIds: Schema.Array(Schema.BigInt)
})
type DecidedStrike = typeof DecidedStrike.Type
const decidedRows = rowsOf(DecidedStrike)
const strikeRows = rowsOf(
  Schema.Struct({ createdAt: Timestamptz, overruledAt: Schema.NullOr(Timestamptz) })
)

/** Appeals against strikes, at most one per strike, and decisions of staff. */
export class Appeals extends Context.Service<Appeals, {
  /** Returns the ids of strikes against an account, for its owner. */
  readonly strikes: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
  readonly requireOwn: (owner: AccountId, strikeId: bigint) => Effect.Effect<void, RecordNotFound>
  readonly file: (
    owner: AccountId,
    strikeId: bigint,
    text: string
  ) => Effect.Effect<bigint, RecordNotFound | Unprocessable>
  readonly page: (state: typeof AppealState.Type | undefined, page: Page) => Effect.Effect<ReadonlyArray<Appeal>>
  /** Number of appeals, as counted by `boundedCount`. */
  readonly total: (state: typeof AppealState.Type | undefined) => Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<Appeal, RecordNotFound>
  /** Records a decision in the current transaction and returns the strike. Refused if the appeal is decided already. */
  readonly decide: (
    owner: AccountId,
    by: AccountId,
    id: bigint,
    state: "approved" | "rejected"
  ) => Effect.Effect<DecidedStrike, RecordNotFound | Unprocessable | SqlError>
}>()("murmuration/services/moderation/Appeals") {
  static readonly layer = Layer.effect(Appeals, Effect.suspend(() => make)).pipe(Layer.provide(PromisedEmails.layer))
}

const appealed = validationFailed("Strike has been appealed already")

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const emails = yield* PromisedEmails
  const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
  const columns = sql.literal(
    "p.id, p.account_warning_id AS strike_id, p.account_id, p.text, p.state, p.created_at, p.decided_by_account_id"
  )

  const file = traced("Appeals.file")(
    function*(owner: AccountId, strikeId: bigint, text: string) {
      const at = yield* now
      const [strike] = yield* strikeRows(sql`SELECT created_at, overruled_at FROM account_warnings
        WHERE id = ${strikeId} AND target_account_id = ${owner}`)
      if (strike === undefined) return yield* new RecordNotFound()
      if (text.trim() === "") return yield* validationFailed("Text can't be blank")
      if (exceeds(text, appealCharactersMax)) {
        return yield* validationFailed(`Text is too long (maximum is ${appealCharactersMax} characters)`)
      }
      if (strike.overruledAt !== null) return yield* appealed
      if (at.getTime() - strike.createdAt.getTime() > appealDaysMax * 86_400_000) {
        return yield* validationFailed("Strike is too old to appeal against")
      }
      const rows = yield* idRows(sql`INSERT INTO appeals (id, account_warning_id, account_id, text, created_at)
        VALUES (next_id(${at.getTime()}), ${strikeId}, ${owner}, ${text}, ${at})
        ON CONFLICT (account_warning_id) DO NOTHING RETURNING id`)
      const id = rows[0]?.id ?? (yield* appealed)
      yield* emails.promise("appeal_filed", id)
      return id
    },
    transaction(sql),
    Effect.catchIf(isSqlError, Effect.die)
  )

  const decide = traced("Appeals.decide")(
    function*(owner: AccountId, by: AccountId, id: bigint, state: "approved" | "rejected") {
      const at = yield* now
      const [found] = yield* decidedRows(sql`UPDATE appeals p SET state = ${state}, decided_by_account_id = ${by},
          decided_at = ${at} FROM account_warnings w
        WHERE p.id = ${id} AND p.account_id = ${owner} AND p.state = 'pending' AND w.id = p.account_warning_id
        RETURNING w.id AS strike_id, w.action, w.status_ids, w.collection_ids`)
      if (found === undefined) {
        const known = yield* sql`SELECT FROM appeals WHERE id = ${id} AND account_id = ${owner}`
        return yield* known.length === 0 ? new RecordNotFound() : validationFailed("Appeal has been decided already")
      }
      if (state === "approved") {
        yield* sql`UPDATE account_warnings SET overruled_at = ${at} WHERE id = ${found.strikeId}`
      }
      yield* emails.promise("appeal_decided", id)
      return found
    }
  )

  const inState = (state: typeof AppealState.Type | undefined) =>
    state === undefined ? sql`TRUE` : sql`p.state = ${state}`

  return Appeals.of({
    strikes: traced("Appeals.strikes")(function*(owner, page) {
      if (page.limit === 0) return []
      const { tail, where } = clauses(sql, "id", page)
      const rows = yield* idRows(
        sql`SELECT id FROM account_warnings WHERE target_account_id = ${owner} AND ${where} ${tail}`
      )
      return newestFirst(page, rows.map(({ id }) => id))
    }, Effect.orDie),
    requireOwn: traced("Appeals.requireOwn")(function*(owner, strikeId) {
      const found = yield* Effect.orDie(sql`SELECT FROM account_warnings
        WHERE id = ${strikeId} AND target_account_id = ${owner}`)
      if (found.length === 0) return yield* new RecordNotFound()
    }),
    file,
    page: traced("Appeals.page")(function*(state, page) {
      if (page.limit === 0) return []
      const { tail, where } = clauses(sql, "p.id", page)
      const rows = yield* appealRows(sql`SELECT ${columns} FROM appeals p WHERE ${inState(state)} AND ${where} ${tail}`)
      return newestFirst(page, rows)
    }, Effect.orDie),
    total: traced("Appeals.total")((state) => boundedCount(sql)(sql`SELECT FROM appeals p WHERE ${inState(state)}`)),
    find: traced("Appeals.find")(function*(id) {
      const [found] = yield* Effect.orDie(appealRows(sql`SELECT ${columns} FROM appeals p WHERE p.id = ${id}`))
      return found ?? (yield* new RecordNotFound())
    }),
    decide
  })
})
