import { type Cause, Context, Effect, Fiber, Layer, Queue } from "effect"
import { traced } from "../Traced.ts"
import { type Letter, Mailer } from "./Mailer.ts"

/** Letters that one process has waiting; beyond it new ones are dropped, and their receivers may ask again. */
const lettersWaitingMax = 10_000
/** What a stopping process spends on letters that still wait. */
const lettersAtEnd = "10 seconds"

/**
 * Letters on their way to the `Mailer`. Nobody waits for them, so that a slow mail server slows no request, and so that
 * the time of an answer does not tell whether somebody gets a letter. A process that dies loses what waits.
 */
export class Letters extends Context.Service<Letters, {
  /** `letter` is worked out later, too; undefined where there turns out to be none. */
  readonly post: (letter: Effect.Effect<Letter | undefined>) => Effect.Effect<void>
}>()("murmuration/services/letters/Letters") {
  static readonly layer = Layer.effect(
    Letters,
    Effect.gen(function*() {
      const mailer = yield* Mailer
      const waiting = yield* Queue.make<Effect.Effect<Letter | undefined>, Cause.Done>({
        capacity: lettersWaitingMax,
        strategy: "dropping"
      })

      const deliver = traced("Letters.deliver")(function*(make: Effect.Effect<Letter | undefined>) {
        const letter = yield* make
        if (letter !== undefined) yield* mailer.send(letter)
      }, Effect.catchCause((cause) => Effect.logError("a letter was not sent", cause)))

      const worker = yield* Queue.take(waiting).pipe(
        Effect.flatMap(deliver),
        Effect.forever,
        Effect.ignore,
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Queue.end(waiting), Effect.ignore(Effect.timeout(Fiber.await(worker), lettersAtEnd)))
      )

      return Letters.of({
        post: traced("Letters.post")(function*(letter) {
          if (!(yield* Queue.offer(waiting, letter))) yield* Effect.logWarning("too many letters wait; one is dropped")
        })
      })
    })
  )
}
