import { Clock, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type RecordNotFound, TooManyRequests, Unavailable } from "../../services/Errors.ts"
import { type AccountId, millisOf } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type Answer, Commands, families, type Family, type Owner } from "../../services/intents/Commands.ts"
import { only } from "../../services/Rows.ts"

/** Uses of a family in the current period; `index` numbers the periods since 1970. */
interface Used {
  index: number
  count: number
}

interface State {
  readonly owner: Owner
  readonly used: Record<Family, Used>
}

const periodOf = (family: Family, now: number) => Math.floor(now / (families[family].seconds * 1000))

/**
 * What an actor holds while it is active: its epoch, its limits as the rows gave them when it was activated, and the
 * time of its newest status. It is read at the first need, so that an activation never fails where Postgres is away,
 * and forgotten when another node turns out to own the account.
 */
export const make = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const commands = yield* Commands
  const { rateLimits } = yield* ServerConfig
  let state: State | undefined
  /** The time of the newest status, in milliseconds since 1970. */
  let newestMillis = 0

  const activate = Effect.fnUntraced(function*() {
    const owner = yield* commands.takeOver(accountId)
    const now = yield* Clock.currentTimeMillis
    const count = (family: Family) =>
      Effect.map(
        commands.used(accountId, family, periodOf(family, now) * families[family].seconds * 1000),
        (used): Used => ({ index: periodOf(family, now), count: used })
      )
    // The newest may be deleted by now; for a day the command that made it is still known.
    const newest = only(
      yield* sql<{ id: bigint | null }>`SELECT greatest(
        (SELECT max(id) FROM statuses WHERE account_id = ${accountId} AND deleted_at IS NULL),
        (SELECT max((answer ->> 'id')::bigint) FROM commands WHERE account_id = ${accountId} AND answer ->> 'kind' = 'status')
      ) AS id`
    )
    if (newest.id !== null) newestMillis = Math.max(newestMillis, millisOf(newest.id))
    state = { owner, used: { statuses: yield* count("statuses"), follows: yield* count("follows") } }
    return state
  })

  // Commands and fan-out run side by side; were both to activate, the later one would make the earlier one a stranger.
  const activating = Semaphore.makeUnsafe(1)
  const known = Effect.suspend(() => state === undefined ? activate() : Effect.succeed(state))
  const current: Effect.Effect<State, RecordNotFound | SqlError> = Effect.suspend(() =>
    state === undefined ? activating.withPermits(1)(known) : Effect.succeed(state)
  )

  const standingOf = ({ used }: State, family: Family, now: number) => {
    const index = periodOf(family, now)
    if (used[family].index !== index) used[family] = { index, count: 0 }
    const { seconds, uses } = families[family]
    return { limit: uses, remaining: uses - used[family].count, resetAt: (index + 1) * seconds * 1000 }
  }

  /** Forgets what turned out to be stale, not what was learnt since. */
  const forget = (held: State) => () => {
    if (state === held) state = undefined
    return new Unavailable({ retryAfterSeconds: 1 })
  }

  /** Runs a command once; refuses it where its family is used up. */
  const once = Effect.fnUntraced(function*<E>(
    id: string,
    kind: Family | undefined,
    work: Effect.Effect<Answer, E>
  ) {
    const family = rateLimits ? kind : undefined
    const held = yield* current
    const now = yield* Clock.currentTimeMillis
    const metered: Effect.Effect<Answer, E | TooManyRequests> = family === undefined
      ? work
      : Effect.suspend((): Effect.Effect<Answer, E | TooManyRequests> => {
        const { limit, remaining, resetAt } = standingOf(held, family, now)
        return remaining > 0 ? work : Effect.fail(new TooManyRequests({ limit, resetAt }))
      })
    const { answer, repeated } = yield* commands.once(held.owner, id, family, metered).pipe(
      Effect.catchTag("StaleOwner", forget(held))
    )
    if (family === undefined) return answer
    if (!repeated) held.used[family].count++
    return { ...answer, standing: standingOf(held, family, now) }
  })

  /** Runs work that may come again in a transaction of the owner. */
  const owned = Effect.fnUntraced(function*<A, E>(work: Effect.Effect<A, E>) {
    const held = yield* current
    return yield* commands.owned(held.owner, work).pipe(Effect.catchTag("StaleOwner", forget(held)))
  })

  /**
   * The time for a new status, in milliseconds since 1970: never that of an earlier one, whatever the clock does. For the
   * work of a command only, which goes on under the epoch that it began with, even if that was forgotten meanwhile.
   */
  const nextMillis = Effect.map(Clock.currentTimeMillis, (now) => {
    newestMillis = Math.max(now, newestMillis + 1)
    return newestMillis
  })

  return { accountId, once, owned, nextMillis }
})

export type Ownership = Effect.Success<ReturnType<typeof make>>
