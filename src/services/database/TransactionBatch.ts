import { Cause, Context, Effect, Exit, Latch } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { KeyRequest, type Many, resolver } from "./Batches.ts"

/** Effects that run concurrently and share their statements. */
interface Batch {
  /** Effects that run, and requests that wait for a statement. */
  running: number
  waiting: number
  /** Opened when every running effect waits; later requests wait at a new gate. */
  gate: Latch.Latch
  /** Writes to run when all effects have ended. */
  readonly last: Array<Effect.Effect<void, unknown>>
  /** True after the end; effects that still run then query on their own. */
  over: boolean
}

/** Effect of a batch; `wrote` is true if it has written. */
interface Member {
  readonly batch: Batch
  wrote: boolean
}

const Current = Context.Reference<Member | undefined>("murmuration/services/database/TransactionBatch", {
  defaultValue: () => undefined
})

/** Opens the gate if every running effect waits. */
const openGateIfAllWait = (batch: Batch): void => {
  if (batch.waiting < batch.running || batch.waiting === 0) return
  const { gate } = batch
  batch.waiting = 0
  batch.gate = Latch.makeUnsafe(false)
  gate.openUnsafe()
}

const batchOf = (context: Context.Context<never>) => Context.get(context, Current)?.batch
const waitForGate = Effect.withFiber((fiber) => batchOf(fiber.context)?.gate.await ?? Effect.void)

/**
 * Batches calls for single keys. Effects that run `inOneTransaction` share one statement for all keys that they request
 * at the same time; elsewhere each call is a statement for its own key.
 */
export const batched = <Key, Result, E>(
  many: Many<Key, Result, E>,
  kind: "reads" | "writes" = "reads"
): (key: Key) => Effect.Effect<Result, E> => {
  const questions = resolver({ many, batchKey: batchOf, delay: waitForGate })
  const together = (batch: Batch, context: Context.Context<never>, key: Key) =>
    Effect.callback<Result, E>((resume) => {
      const question = new KeyRequest<Key, Result, E>({ key })
      const cancel = Effect.requestUnsafe(question, { resolver: questions, onExit: resume, context })
      batch.waiting++
      openGateIfAllWait(batch)
      return Effect.sync(cancel)
    })

  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.batch.over) return Effect.map(many([key]), (resultOf) => resultOf(key, 0))
      member.wrote ||= kind === "writes"
      return together(member.batch, fiber.context, key)
    })
}

/**
 * Like `batched`, for writes that are not read before the transaction ends: effects that run `inOneTransaction` share
 * one write after all of them have ended; its failure fails all of them.
 */
export const atCommit = <Key, E>(
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<void, E>
): (key: Key) => Effect.Effect<void, E> => {
  const keysByBatch = new WeakMap<Batch, Array<Key>>()
  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.batch.over) return many([key])
      const { batch } = member
      member.wrote = true
      const asked = keysByBatch.get(batch)
      if (asked !== undefined) asked.push(key)
      else {
        const keys = [key]
        keysByBatch.set(batch, keys)
        batch.last.push(Effect.suspend(() => many(keys)))
      }
      return Effect.void
    })
}

/** Returns true if the failure leaves the transaction usable. */
const leavesTransactionUsable = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.every((reason) => Cause.isFailReason(reason) && !isSqlError(reason.error))

/**
 * Runs effects concurrently in the open transaction, so that their `batched` calls share statements. Returns the exit
 * of each. If the database fails, or an effect fails after it has written, all fail with that cause; no effect is
 * interrupted because of another. Effects write through `batched` or `atCommit`, at least at first.
 *
 * @fastPath shared-transactions
 */
export const inOneTransaction = <A, E>(
  effects: ReadonlyArray<Effect.Effect<A, E>>
): Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, unknown> =>
  Effect.suspend(() => {
    const batch: Batch = { running: effects.length, waiting: 0, gate: Latch.makeUnsafe(false), last: [], over: false }
    const leave = Effect.sync(() => {
      batch.running--
      openGateIfAllWait(batch)
    })
    const asMember = Effect.fnUntraced(function*(effect: Effect.Effect<A, E>) {
      const member: Member = { batch, wrote: false }
      const exit = yield* Effect.exit(Effect.provideService(effect, Current, member))
      yield* leave
      return { exit, fatal: Exit.isFailure(exit) && (member.wrote || !leavesTransactionUsable(exit.cause)) }
    })
    return Effect.gen(function*() {
      const ended = yield* Effect.forEach(effects, asMember, { concurrency: "unbounded" })
      for (const { exit, fatal } of ended) if (fatal) yield* exit
      yield* Effect.forEach(batch.last, (write) => write, { discard: true })
      return ended.map(({ exit }) => exit)
    }).pipe(Effect.ensuring(Effect.sync(() => batch.over = true)))
  })
