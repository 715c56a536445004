import { Cause, Context, Effect, Exit, Latch } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { type Many, Question, resolver } from "./Batches.ts"

/** Effects that run side by side and ask the database together. */
interface Batch {
  /** How many run, and how many of them wait for an answer. */
  running: number
  waiting: number
  /** Is opened where no effect can want more; the next questions wait at another one. */
  gate: Latch.Latch
  /** What writes the rest when all of them are done. */
  readonly last: Array<Effect.Effect<void, unknown>>
  /** Set at the end: an effect that lives on asks for itself. */
  over: boolean
}

/** One of them, and whether it wrote anything. */
interface Member {
  readonly batch: Batch
  wrote: boolean
}

const Current = Context.Reference<Member | undefined>("murmuration/services/TransactionBatch", {
  defaultValue: () => undefined
})

/** Lets the questions be asked as soon as no effect can want more. */
const askWhereAllWait = (batch: Batch): void => {
  if (batch.waiting < batch.running || batch.waiting === 0) return
  const { gate } = batch
  batch.waiting = 0
  batch.gate = Latch.makeUnsafe(false)
  gate.openUnsafe()
}

const batchOf = (context: Context.Context<never>) => Context.get(context, Current)?.batch
const allWait = Effect.withFiber((fiber) => batchOf(fiber.context)?.gate.await ?? Effect.void)

/**
 * A question that may be asked for many keys in one statement, as a function of one key. Among effects that run `inOneTransaction`
 * all that is wanted at the same time is asked at once; elsewhere it is a statement for the one key.
 */
export const batched = <Key, Answer, E>(
  many: Many<Key, Answer, E>,
  kind: "reads" | "writes" = "reads"
): (key: Key) => Effect.Effect<Answer, E> => {
  const questions = resolver({ many, batchKey: batchOf, delay: allWait })
  const together = (batch: Batch, context: Context.Context<never>, key: Key) =>
    Effect.callback<Answer, E>((resume) => {
      const question = new Question<Key, Answer, E>({ key })
      const cancel = Effect.requestUnsafe(question, { resolver: questions, onExit: resume, context })
      batch.waiting++
      askWhereAllWait(batch)
      return Effect.sync(cancel)
    })

  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.batch.over) return Effect.map(many([key]), (answerOf) => answerOf(key, 0))
      member.wrote ||= kind === "writes"
      return together(member.batch, fiber.context, key)
    })
}

/**
 * The same for what is only written, and read by nobody before the transaction is over: among effects that run `inOneTransaction`
 * it is written once all of them are done, and fails all of them.
 */
export const atCommit = <Key, E>(
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<void, E>
): (key: Key) => Effect.Effect<void, E> => {
  const wanted = new WeakMap<Batch, Array<Key>>()
  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.batch.over) return many([key])
      const { batch } = member
      member.wrote = true
      const asked = wanted.get(batch)
      if (asked !== undefined) asked.push(key)
      else {
        const keys = [key]
        wanted.set(batch, keys)
        batch.last.push(Effect.suspend(() => many(keys)))
      }
      return Effect.void
    })
}

/** Whether what went wrong leaves the transaction as it was. */
const isHarmless = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.every((reason) => Cause.isFailReason(reason) && !isSqlError(reason.error))

/**
 * Runs effects side by side in the open transaction, so that they ask `batched`. Answers how each ended. Where one that
 * has written something fails, or the database does, all fail with that; none is interrupted because of another. They
 * write by `batched` or `atCommit`, at least at first.
 */
export const inOneTransaction = <A, E>(
  effects: ReadonlyArray<Effect.Effect<A, E>>
): Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, unknown> =>
  Effect.suspend(() => {
    const batch: Batch = { running: effects.length, waiting: 0, gate: Latch.makeUnsafe(false), last: [], over: false }
    const leave = Effect.sync(() => {
      batch.running--
      askWhereAllWait(batch)
    })
    const asMember = Effect.fnUntraced(function*(effect: Effect.Effect<A, E>) {
      const member: Member = { batch, wrote: false }
      const exit = yield* Effect.exit(Effect.provideService(effect, Current, member))
      yield* leave
      return { exit, fatal: Exit.isFailure(exit) && (member.wrote || !isHarmless(exit.cause)) }
    })
    return Effect.gen(function*() {
      const ended = yield* Effect.forEach(effects, asMember, { concurrency: "unbounded" })
      for (const { exit, fatal } of ended) if (fatal) yield* exit
      yield* Effect.forEach(batch.last, (write) => write, { discard: true })
      return ended.map(({ exit }) => exit)
    }).pipe(Effect.ensuring(Effect.sync(() => batch.over = true)))
  })
