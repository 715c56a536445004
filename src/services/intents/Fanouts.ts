import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import { gatheredOrAlone } from "../Gathered.ts"
import type { AccountId } from "../Ids.ts"
import type { PlainType } from "../NotificationTypes.ts"
import { known, nullable, only } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { atCommit } from "../TransactionBatch.ts"
import type { Owner } from "./Commands.ts"
import { Wakes } from "./Wakes.ts"

/**
 * What an account has to tell: a new, edited or deleted status, a poll that has ended, a notice to somebody, that homes
 * are out of date, that it moved, or something for other servers.
 */
export type FanoutKind = "publish" | "edit" | "delete" | "poll" | "notify" | "homes" | "move" | "deliver"

/** A durable intent; `phase` and `cursor` (the id of the last follow that was served) say how far it has come. */
export interface Fanout {
  readonly id: bigint
  readonly kind: FanoutKind
  readonly statusId: bigint | null
  readonly details: Details | null
  readonly phase: number
  readonly cursor: bigint
}

/** How far an intent has come. */
type Progress = Pick<Fanout, "id" | "phase" | "cursor">

/** Somebody did the slice meanwhile; what was done again is to be undone with its transaction, and nobody told of it. */
export class DoneElsewhere extends Schema.TaggedError<DoneElsewhere>()("DoneElsewhere", {}) {}

/** An intent of which nothing is done yet. */
export const begun = <StatusId extends bigint | null>(
  id: bigint,
  kind: FanoutKind,
  statusId: StatusId,
  details: Details | null = null
): Fanout & { readonly statusId: StatusId } => ({ id, kind, statusId, details, phase: 0, cursor: 0n })

/**
 * A notification to write: who is told of what. Ids are decimal strings, as JSON keeps them. `from` is the one it comes
 * from, where that is not the account that tells.
 */
export interface NewNotification {
  readonly type: PlainType
  readonly to: string
  readonly from?: string
  readonly statusId?: string
}

/** A report, by its id as a decimal string, that moderators are to hear of. */
interface Reported {
  readonly report: string
}

/** The account, by its id as a decimal string, that the one who tells has become. */
interface Moved {
  readonly movedTo: string
}
/** The account that a notification comes from. */
export const senderOf = (accountId: bigint, { from }: NewNotification): bigint =>
  from === undefined ? accountId : BigInt(from)

/** Accounts, as decimal strings, whose homes are to be forgotten because of whom they follow, block or mute now. */
interface Homes {
  readonly readers: ReadonlyArray<string>
}

/**
 * What leaves for the followers elsewhere and for whom it concerns: a post (or its change, or its end), the profile, a pin,
 * a hashtag on the profile (`target`, without #), the move to the account with the id `target`, or that the account is gone.
 * `number` makes its id, where that takes one.
 */
export interface OutgoingActivity {
  readonly leaves:
    | "Create"
    | "Update"
    | "Delete"
    | "Profile"
    | "Pin"
    | "Unpin"
    | "FeatureTag"
    | "UnfeatureTag"
    | "Move"
    | "Farewell"
  readonly number: string
  readonly target?: string
}

/** The edit that is told of: when that was, in milliseconds since 1970. */
interface Edition {
  readonly editedAt: number
}

/** What an intent has to tell beside a status. */
export type Details = NewNotification | Homes | Reported | Moved | OutgoingActivity | Edition

/** An intent of which nothing is left, and who worked it off. */
export interface Closing {
  readonly id: bigint
  readonly owner: Owner
}
/** Intents that one statement closes. */
export const closingsMax = 100

interface Intent {
  readonly accountId: AccountId
  readonly kind: FanoutKind
  readonly statusId: bigint | null
  readonly details: Details | undefined
  readonly wrote: ((intent: Fanout) => void) | undefined
}

/** Intents that one round takes up, the oldest first; each gives one slice a round. */
export const fanoutsRoundMax = 16

/** Closes intents; a row of each that its owner still owns. */
export const closing = (
  sql: SqlClient.SqlClient,
  closings: ReadonlyArray<Closing>
): Statement<{ readonly id: bigint }> =>
  sql<{ id: bigint }>`DELETE FROM fanouts f USING (SELECT c.id FROM unnest(
      ${closings.map(({ id }) => id)}::bigint[], ${closings.map(({ owner }) => owner.accountId)}::bigint[],
      ${closings.map(({ owner }) => owner.epoch)}::bigint[]) AS c (id, account_id, epoch)
    JOIN actors a ON a.account_id = c.account_id AND a.epoch = c.epoch FOR SHARE OF a) owned
    WHERE f.id = owned.id RETURNING f.id`

export class Fanouts extends Context.Service<Fanouts, {
  /**
   * Writes an intent in the running transaction, at its end at the latest, and tells `wrote` of it. Only after the commit
   * does anybody need it; where nobody is told of it, the account's actor is woken then.
   */
  readonly add: (
    accountId: AccountId,
    kind: FanoutKind,
    statusId: bigint | null,
    details?: Details,
    wrote?: (intent: Fanout) => void
  ) => Effect.Effect<void, SqlError>
  /** The account's oldest intents. */
  readonly waiting: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Fanout>, SqlError>
  /**
   * Commits how far a fan-out has come, in the running transaction; fails where it is not where it was any more. Answers
   * whether that is all of it.
   */
  readonly advance: (from: Progress, phase: number, cursor: bigint) => Effect.Effect<false, DoneElsewhere | SqlError>
  readonly finish: (from: Progress) => Effect.Effect<true, DoneElsewhere | SqlError>
  /** The same as a statement that gives a row where it did so, under the claim of an owner (`Commands.ownerRow`). */
  readonly finishing: (id: bigint, claim: Fragment) => Statement<{ readonly id: bigint }>
  /** Finishes an intent in no transaction; false where it is somebody else's by now. Many do that in one statement. */
  readonly close: (closing: Closing) => Effect.Effect<boolean, SqlError>
  /** Accounts whose intents are older than `millis`: their owner died or lost its wake-up. */
  readonly stale: (millis: number, accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
  /** How many intents wait, and the age of the oldest in milliseconds. */
  readonly backlog: Effect.Effect<{ readonly count: number; readonly oldestMillis: number }, SqlError>
}>()("murmuration/services/intents/Fanouts") {
  static readonly layer = Layer.effect(
    Fanouts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const wakes = yield* Wakes

      // Ids are given beforehand, so that it is known whose they are.
      const add = atCommit(Effect.fnUntraced(function*(intents: ReadonlyArray<Intent>) {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* sql<{ id: bigint; place: number }>`
          WITH given AS MATERIALIZED (SELECT next_id(${now}) AS id, g.* FROM unnest(
            ${intents.map(({ accountId }) => accountId)}::bigint[], ${intents.map(({ kind }) => kind)}::text[],
            ${nullable(intents.map(({ statusId }) => statusId))}::bigint[],
            ${nullable(intents.map(({ details }) => details === undefined ? null : JSON.stringify(details)))}::text[])
            WITH ORDINALITY AS g (account_id, kind, status_id, details, place)),
          made AS (INSERT INTO fanouts (id, account_id, kind, status_id, details, created_at)
            SELECT id, account_id, kind, status_id, details::jsonb, ${new Date(now)} FROM given)
          SELECT id, place::int FROM given`
        const ids = new Map(rows.map(({ id, place }) => [place - 1, id]))
        yield* Effect.forEach(intents, ({ accountId, details, kind, statusId, wrote }, at) => {
          if (wrote === undefined) return wakes.wake(accountId)
          wrote(begun(known(ids.get(at)), kind, statusId, details))
          return Effect.void
        }, { discard: true })
      }))

      const close = gatheredOrAlone(
        closingsMax,
        (closings: ReadonlyArray<Closing>) =>
          Effect.map(closing(sql, closings), (rows) => {
            const closed = new Set(rows.map(({ id }) => id))
            return ({ id }: Closing) => closed.has(id)
          })
      )

      const standsAt = ({ cursor, id, phase }: Progress) => sql`id = ${id} AND phase = ${phase} AND cursor = ${cursor}`
      const moved = <Over extends boolean>(over: Over, statement: Statement<{ readonly id: bigint }>) =>
        Effect.flatMap(
          statement,
          (rows): Effect.Effect<Over, DoneElsewhere> =>
            rows.length > 0 ? Effect.succeed(over) : Effect.fail(new DoneElsewhere())
        )

      return Fanouts.of({
        add: traced("Fanouts.add")((accountId, kind, statusId, details, wrote) =>
          add({ accountId, kind, statusId, details, wrote })
        ),
        waiting: traced("Fanouts.waiting")((accountId) =>
          sql<Fanout>`SELECT id, kind, status_id, details, phase, cursor FROM fanouts
            WHERE account_id = ${accountId} ORDER BY id LIMIT ${fanoutsRoundMax}`
        ),
        advance: traced("Fanouts.advance")((from, phase, cursor) =>
          moved(
            false,
            sql`UPDATE fanouts SET phase = ${phase}, cursor = ${cursor} WHERE ${standsAt(from)} RETURNING id`
          )
        ),
        finish: traced("Fanouts.finish")((from) =>
          moved(true, sql`DELETE FROM fanouts WHERE ${standsAt(from)} RETURNING id`)
        ),
        finishing: (id, claim) =>
          sql`WITH claim AS MATERIALIZED (${claim})
            DELETE FROM fanouts WHERE id = ${id} AND EXISTS (SELECT FROM claim) RETURNING id`,
        close: traced("Fanouts.close")((one) => close(one)),
        stale: traced("Fanouts.stale")(function*(millis, accountsMax) {
          const before = new Date((yield* Clock.currentTimeMillis) - millis)
          const rows = yield* sql<{ accountId: AccountId }>`
            SELECT DISTINCT account_id FROM fanouts WHERE created_at < ${before} LIMIT ${accountsMax}`
          return rows.map(({ accountId }) => accountId)
        }),
        backlog: Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const { count, oldest } = only(
            yield* sql<{ count: number; oldest: Date | null }>`
            SELECT count(*)::int AS count, min(created_at) AS oldest FROM fanouts`
          )
          return { count, oldestMillis: oldest === null ? 0 : now - oldest.getTime() }
        })
      })
    })
  ).pipe(Layer.provide(Wakes.layer))
}
