import { Cause, Context, Deferred, Effect, Exit } from "effect"
import { isSqlError } from "effect/sql/SqlError"

/** Effects that run side by side and ask the database together. */
interface Company {
  /** How many run, and how many of them wait for an answer. */
  running: number
  waiting: number
  /** What asks all that is wanted, a statement a kind of question. */
  questions: Array<Effect.Effect<void>>
  /** What writes the rest when all of them are done. */
  readonly last: Array<Effect.Effect<void, unknown>>
  /** What is begun by then and lives on asks for itself. */
  over: boolean
}

/** One of them, and whether it wrote anything. */
interface Member {
  readonly company: Company
  wrote: boolean
}

const Current = Context.Reference<Member | undefined>("murmuration/services/Jointly", {
  defaultValue: () => undefined
})

/** What a statement for many keys says about one of them; `place` is where that stood among them. */
export type AnswerOf<Key, Answer> = (key: Key, place: number) => Answer

/** Asks what is wanted as soon as nobody can want more. */
const askWhereAllWait = (company: Company): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (company.waiting < company.running || company.questions.length === 0) return Effect.void
    const { questions } = company
    company.questions = []
    company.waiting = 0
    return Effect.forEach(questions, (question) => question, { discard: true })
  })

/**
 * A question that may be asked for many keys in one statement, as a function of one key. Among effects that run `together`
 * all that is wanted at the same time is asked at once; elsewhere it is a statement for the one key.
 */
export const jointly = <Key, Answer, E>(
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>,
  kind: "reads" | "writes" = "reads"
): (key: Key) => Effect.Effect<Answer, E> => {
  interface Wanted {
    readonly key: Key
    readonly answer: Deferred.Deferred<Answer, E>
  }
  const wanted = new WeakMap<Company, Array<Wanted>>()

  const ask = (company: Company) =>
    Effect.suspend(() => {
      const asked = wanted.get(company) ?? []
      wanted.delete(company)
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
      if (member === undefined || member.company.over) return Effect.map(many([key]), (answerOf) => answerOf(key, 0))
      const { company } = member
      member.wrote ||= kind === "writes"
      const answer = Deferred.makeUnsafe<Answer, E>()
      const asked = wanted.get(company)
      if (asked === undefined) {
        wanted.set(company, [{ key, answer }])
        company.questions.push(ask(company))
      } else asked.push({ key, answer })
      company.waiting++
      return Effect.andThen(askWhereAllWait(company), Deferred.await(answer))
    })
}

/**
 * The same for what is only written, and read by nobody before the transaction is over: among effects that run `together`
 * it is written once all of them are done, and fails all of them.
 */
export const lastly = <Key, E>(
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<void, E>
): (key: Key) => Effect.Effect<void, E> => {
  const wanted = new WeakMap<Company, Array<Key>>()
  return (key) =>
    Effect.withFiber((fiber) => {
      const member = fiber.getRef(Current)
      if (member === undefined || member.company.over) return many([key])
      const { company } = member
      member.wrote = true
      const asked = wanted.get(company)
      if (asked !== undefined) asked.push(key)
      else {
        const keys = [key]
        wanted.set(company, keys)
        company.last.push(Effect.suspend(() => many(keys)))
      }
      return Effect.void
    })
}

/** Whether what went wrong leaves the transaction as it was. */
const isHarmless = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.every((reason) => Cause.isFailReason(reason) && !isSqlError(reason.error))

/**
 * Runs effects side by side in the transaction that is open, so that they ask `jointly`, and answers how each ended. Where
 * one that has written something fails, or the database does, all fail with that; none is interrupted because of another.
 * What they write is to be `jointly` or `lastly`, at least what they write first.
 */
export const together = <A, E>(
  effects: ReadonlyArray<Effect.Effect<A, E>>
): Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, unknown> =>
  Effect.suspend(() => {
    const company: Company = { running: effects.length, waiting: 0, questions: [], last: [], over: false }
    const leave = Effect.suspend(() => {
      company.running--
      return askWhereAllWait(company)
    })
    const asMember = Effect.fnUntraced(function*(effect: Effect.Effect<A, E>) {
      const member: Member = { company, wrote: false }
      const exit = yield* Effect.exit(Effect.provideService(effect, Current, member))
      yield* leave
      return { exit, fatal: Exit.isFailure(exit) && (member.wrote || !isHarmless(exit.cause)) }
    })
    return Effect.gen(function*() {
      const ended = yield* Effect.forEach(effects, asMember, { concurrency: "unbounded" })
      for (const { exit, fatal } of ended) if (fatal) yield* exit
      yield* Effect.forEach(company.last, (write) => write, { discard: true })
      return ended.map(({ exit }) => exit)
    }).pipe(Effect.ensuring(Effect.sync(() => company.over = true)))
  })
