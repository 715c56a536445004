import { Array as Arr, Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tracked } from "../database/CachedTables.ts"
import { Broadcast, type Change } from "./Broadcast.ts"

/** Maximum ids of one message. */
const idsMax = 1_000

/** Ids of changed rows by kind; a kind that changes as a whole has none. */
type Collected = Map<Change["kind"], Set<bigint>>

/** Changes of open transactions. A savepoint has its own: it may be rolled back alone. */
const collected = new WeakMap<object, Collected>()

const messagesOf = (kind: Change["kind"], ids: ReadonlyArray<bigint>): ReadonlyArray<Change> =>
  ids.length === 0
    ? [{ _tag: "Changed", kind, ids: [] }]
    : Arr.chunksOf(ids, idsMax).map((some) => ({ _tag: "Changed", kind, ids: some }))

/** Returns the `Tracked` of this server; the only place that publishes `Changed`. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { publish } = yield* Broadcast

  /** Publishes outside of the transaction, also where one statement has a session of its own (`Commands`). */
  const tell = (changes: Collected, transaction: object | undefined) =>
    Effect.suspend(() => {
      if (transaction !== undefined) collected.delete(transaction)
      const messages = [...changes].flatMap(([kind, ids]) => messagesOf(kind, [...ids]))
      return Effect.forEach(messages, publish, { discard: true })
    }).pipe(Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)))

  const add = (kind: Change["kind"], ids: Iterable<bigint> | undefined) =>
    Effect.withFiber((fiber) => {
      const rows = ids === undefined ? [] : [...ids]
      if (ids !== undefined && rows.length === 0) return Effect.void
      const transaction = Context.getOrUndefined(fiber.context, sql.transactionService)
      const before = transaction === undefined ? undefined : collected.get(transaction)
      const changes: Collected = before ?? new Map()
      const known = changes.get(kind) ?? new Set()
      changes.set(kind, known)
      for (const id of rows) known.add(id)
      if (before !== undefined) return Effect.void
      if (transaction !== undefined) collected.set(transaction, changes)
      return sql.afterCommit(tell(changes, transaction))
    })

  const tracked: Tracked = <Result>(
    kind: Change["kind"],
    ids?: Iterable<bigint> | ((result: Result) => Iterable<bigint>)
  ) =>
  <A extends Result, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tap(write, (result) => add(kind, typeof ids === "function" ? ids(result) : ids))
  return tracked
})
