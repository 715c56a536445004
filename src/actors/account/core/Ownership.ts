import { Cause, Clock, Effect, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type AccountId, millisOf } from "../../../services/database/Ids.ts"
import { rowsOf, singleRow } from "../../../services/database/Rows.ts"
import { isDatabaseFailure } from "../../../services/database/Transactions.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import {
  type CommandResponse,
  Commands,
  families,
  type Family,
  type Owner,
  type Recording
} from "../../../services/intents/Commands.ts"
import {
  type ClientError,
  type RecordNotFound,
  TooManyRequests,
  Unavailable
} from "../../../services/runtime/Errors.ts"
import { aheadMillisMax } from "../../../services/runtime/Moments.ts"
import type { Backlog } from "./Backlog.ts"

const newestRows = rowsOf(Schema.Struct({ id: Schema.NullOr(Schema.BigInt) }))

/** Uses of a rate limit's family in the current period; `index` numbers the periods since 1970. */
interface Used {
  index: number
  count: number
}

type Uses = Record<Family, Used>

interface State {
  readonly owner: Owner
  /** Undefined while a command runs, and after one of unknown outcome, until the rows are counted again. */
  used: Uses | undefined
}

/**
 * State of an active actor: its epoch, its rate-limit counts as of activation, and the time of its newest status. It is
 * read on first use, so activation never fails while Postgres is down. It is dropped when another node turns out to own
 * the account. Only `Owners` changes it.
 */
export interface Ownership {
  readonly accountId: AccountId
  readonly backlog: Backlog
  state: State | undefined
  /** Time of the newest status, in milliseconds since 1970. */
  newestMillis: number
  /**
   * Serialises activation: commands and fan-out run concurrently, and a second activation would fence off the first.
   */
  activating: Semaphore.Semaphore | undefined
}

/** Runs a single statement that creates something and is the whole command (`Commands.runAsStatement`). */
export type RecordStatement = <A>(
  kind: CommandResponse["kind"],
  statement: (recording: Recording) => Effect.Effect<A, SqlError>
) => Effect.Effect<A, ClientError | SqlError>

/** A command as one statement. */
interface Attempt {
  /** Fails if the command's deadline has passed. */
  readonly begin: Effect.Effect<void, Unavailable>
  readonly runAsStatement: (
    record: RecordStatement
  ) => Effect.Effect<CommandResponse | undefined, ClientError | SqlError>
}

/** Creates the state of a new actor. */
export const begin = (accountId: AccountId, backlog: Backlog): Ownership => ({
  accountId,
  backlog,
  state: undefined,
  newestMillis: 0,
  activating: undefined
})

const periodOf = (family: Family, now: number) => Math.floor(now / (families[family].seconds * 1000))

/** Operations on ownerships, built once per node; every actor has its own `Ownership`. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const commands = yield* Commands
  const { rateLimits } = yield* ServerConfig

  /** Counts the uses of the current periods. */
  const count = Effect.fnUntraced(function*(accountId: AccountId) {
    const now = yield* Clock.currentTimeMillis
    const since = (family: Family) => periodOf(family, now) * families[family].seconds * 1000
    const counts = yield* commands.used(accountId, {
      statuses: since("statuses"),
      follows: since("follows"),
      reports: since("reports")
    })
    const used = (family: Family): Used => ({ index: periodOf(family, now), count: counts[family] })
    return { statuses: used("statuses"), follows: used("follows"), reports: used("reports") }
  })

  const activate = Effect.fnUntraced(function*(own: Ownership) {
    const { accountId } = own
    const owner = yield* commands.takeOver(accountId)
    const used = yield* count(accountId)
    // The newest status may have been deleted; the command that made it is known for a day.
    const newest = singleRow(
      yield* newestRows(sql`SELECT greatest(
        (SELECT max(id) FROM statuses WHERE account_id = ${accountId} AND deleted_at IS NULL),
        (SELECT max((answer ->> 'id')::bigint) FROM commands WHERE account_id = ${accountId} AND answer ->> 'kind' = 'status')
      ) AS id`)
    )
    if (newest.id !== null) own.newestMillis = Math.max(own.newestMillis, millisOf(newest.id))
    own.state = { owner, used }
    return own.state
  })

  const current = (own: Ownership): Effect.Effect<State, RecordNotFound | SqlError> => {
    const known = Effect.suspend(() => own.state === undefined ? activate(own) : Effect.succeed(own.state))
    return Effect.suspend(() => {
      if (own.state !== undefined) return Effect.succeed(own.state)
      own.activating ??= Semaphore.makeUnsafe(1)
      return own.activating.withPermit(known)
    })
  }

  const quotaOf = (used: Uses, family: Family, now: number) => {
    const index = periodOf(family, now)
    if (used[family].index !== index) used[family] = { index, count: 0 }
    const { seconds, uses } = families[family]
    return { limit: uses, remaining: uses - used[family].count, resetAt: (index + 1) * seconds * 1000 }
  }

  /** Drops the stale state, unless newer state has replaced it. */
  const forget = (own: Ownership, held: State) => () => {
    if (own.state === held) own.state = undefined
    return new Unavailable({ retryAfterSeconds: 1 })
  }

  /** Calls `doubt` if the outcome of work is unknown: the database may have committed it (F160). */
  const doubting = (doubt: () => void) => <A, E>(work: Effect.Effect<A, E>) =>
    Effect.tapCause(work, (cause) =>
      Effect.sync(() => {
        if (isDatabaseFailure(cause) || Cause.hasInterrupts(cause)) doubt()
      }))

  /** Runs a command as one statement; undefined if it has to run in a transaction. */
  const attempt = (
    own: Ownership,
    held: State,
    id: string,
    family: Family | undefined,
    doubt: () => void,
    { runAsStatement, begin }: Attempt
  ) =>
    runAsStatement((kind, statement) =>
      commands.runAsStatement(
        held.owner,
        id,
        { kind, family },
        (recording) => Effect.andThen(begin, statement(recording))
      )
    ).pipe(
      doubting(doubt),
      Effect.catchCause((cause) => {
        if (Cause.hasInterrupts(cause)) return Effect.interrupt
        if (isDatabaseFailure(cause)) own.backlog.unread = true
        return Effect.as(
          Effect.logDebug("a single-statement command failed; it runs in a transaction", cause),
          undefined
        )
      })
    )

  /**
   * Runs a command once, as one statement if possible. Fails with `TooManyRequests` if its family's limit is used up.
   */
  const runOnce = Effect.fnUntraced(function*<E>(
    own: Ownership,
    id: string,
    kind: Family | undefined,
    work: Effect.Effect<CommandResponse, E>,
    simple?: Attempt
  ) {
    const family = rateLimits ? kind : undefined
    const held = yield* current(own)
    const used = held.used ?? (yield* count(own.accountId))
    // Counted again unless this command ends: an interruption after its commit lets nothing run that could count it.
    held.used = undefined
    let isSure = true
    const doubt = () => isSure = false
    const settle = Effect.sync(() => held.used = isSure ? used : undefined)
    const now = yield* Clock.currentTimeMillis
    const isSpent = family !== undefined && quotaOf(used, family, now).remaining <= 0
    const done = simple === undefined || isSpent ? undefined : yield* attempt(own, held, id, family, doubt, simple)
    const metered: Effect.Effect<CommandResponse, E | TooManyRequests> = family === undefined
      ? work
      : Effect.suspend((): Effect.Effect<CommandResponse, E | TooManyRequests> => {
        const { limit, remaining, resetAt } = quotaOf(used, family, now)
        return remaining > 0 ? work : Effect.fail(new TooManyRequests({ limit, resetAt }))
      })
    const { response, repeated } = done !== undefined
      ? { response: done, repeated: false }
      : yield* commands.runOnce(held.owner, id, family, metered).pipe(
        doubting(doubt),
        Effect.tapCause(() => settle),
        Effect.catchTag("StaleOwner", forget(own, held))
      )
    if (family !== undefined && !repeated) used[family].count++
    yield* settle
    return family === undefined ? response : { ...response, standing: quotaOf(used, family, now) }
  })

  /** Runs repeatable work in a transaction of the owner. */
  const owned = Effect.fnUntraced(function*<A, E>(own: Ownership, work: Effect.Effect<A, E>) {
    const held = yield* current(own)
    return yield* commands.owned(held.owner, work).pipe(Effect.catchTag("StaleOwner", forget(own, held)))
  })

  /** Like `owned`, but inside an open transaction that is shared with other work. */
  const inSharedTransaction = <A, E>(own: Ownership, held: State, work: Effect.Effect<A, E>) =>
    Effect.andThen(Effect.catchTag(commands.lock(held.owner), "StaleOwner", forget(own, held)), work)

  /**
   * Returns an SQL subquery that yields a locked row while the epoch is current, for a statement that is its own
   * transaction (`Commands.ownerRow`).
   */
  const ownerRow = (own: Ownership) => Effect.map(current(own), ({ owner }) => commands.ownerRow(owner))

  return { runOnce: runOnce, owned, current, inSharedTransaction, ownerRow }
})

export type Owners = Effect.Success<typeof make>

/**
 * Returns the time for a new status, in milliseconds since 1970. It is later than that of the newest status, even if
 * the clock is set back by some minutes. A newest status further ahead than that was dated by a wrong clock; then the
 * current time is used. Only for work of a command. That work continues under its first epoch, even if the state was
 * dropped in the meantime.
 */
export const nextMillis = (own: Pick<Ownership, "newestMillis">): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const next = Math.max(now, own.newestMillis + 1)
    return own.newestMillis = next > now + aheadMillisMax ? now : next
  })
