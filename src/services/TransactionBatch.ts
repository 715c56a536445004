import { Cause, Context, Deferred, Effect, Exit } from "effect"
import { isSqlError } from "effect/sql/SqlError"

/** Effects that run side by side and ask the database together. */
interface Batch {
  /** How many run, and how many of them wait for an answer. */
  running: number
  waiting: number
  /** What asks all that is wanted, a statement a kind of question. */
  questions: Array<Effect.Effect<void>>
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

/** What a statement for many keys says about one of them; `place` is where that stood among them. */
export type AnswerOf<Key, Answer> = (key: Key, place: number) => Answer

/** Asks what is wanted as soon as nobody can want more. */
const askWhereAllWait = (batch: Batch): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (batch.waiting < batch.running || batch.questions.length === 0) return Effect.void
    const { questions } = batch
    batch.questions = []
    batch.waiting = 0
    return Effect.forEach(questions, (question) => question, { discard: true })
  })

/**
 * A question that may be asked for many keys in one statement, as a function of one key. Among effects that run `inOneTransaction`
 * all that is wanted at the same time is asked at once; elsewhere it is a statement for the one key.
 */
export const batched = <Key, Answer, E>(
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>,
  kind: "reads" | "writes" = "reads"
): (key: Key) => Effect.Effect<Answer, E> => {
  interface Wanted {
    readonly key: Key
    readonly answer: Deferred.Deferred<Answer, E>
  }
  const wanted = new WeakMap<Batch, Array<Wanted>>()

  const ask = (batch: Batch) =>
    Effect.suspend(() => {
      const asked = wanted.get(batch) ?? []
      wanted.delete(batch)
      return Effect.map(Effect.exit(many(asked.map(({ key }) => key))), (exit) =>
        asked.forEach(({ answer, key }, place) => {
          Deferred.doneUnsafe(
            answer,
            Exit.map(exit, (answerOf) =>
              answerOf(key, place))
          )
        }))
    })

  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.batch.over) return Effect.map(many([key]), (answerOf) => answerOf(key, 0))
      const { batch } = member
      member.wrote ||= kind === "writes"
      const answer = Deferred.makeUnsafe<Answer, E>()
      const asked = wanted.get(batch)
      if (asked === undefined) {
        wanted.set(batch, [{ key, answer }])
        batch.questions.push(ask(batch))
      } else asked.push({ key, answer })
      batch.waiting++
      return Effect.andThen(askWhereAllWait(batch), Deferred.await(answer))
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
 * Runs effects side by side in the transaction that is open, so that they ask `batched`, and answers how each ended.
 * Where one that has written something fails, or the database does, all fail with that; none is interrupted because of
 * another. They write by `batched` or `atCommit`, at least at first.
 */
export const inOneTransaction = <A, E>(
  effects: ReadonlyArray<Effect.Effect<A, E>>
): Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, unknown> =>
  Effect.suspend(() => {
    const batch: Batch = { running: effects.length, waiting: 0, questions: [], last: [], over: false }
    const leave = Effect.suspend(() => {
      batch.running--
      return askWhereAllWait(batch)
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
