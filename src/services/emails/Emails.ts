import { type Cause, Context, Effect, Fiber, Layer, Queue } from "effect"
import { traced } from "../Traced.ts"
import { type Email, Mailer } from "./Mailer.ts"

/** E-mails that one process has waiting; beyond it new ones are dropped, and their receivers may ask again. */
const lettersWaitingMax = 10_000
/** What a stopping process spends on e-mails that still wait. */
const lettersAtEnd = "10 seconds"

/**
 * E-mails on their way to the `Mailer`. Nobody waits for them. A slow mail server slows no request, and the time of an
 * answer does not tell whether somebody gets one. A process that dies loses what waits.
 */
export class Emails extends Context.Service<Emails, {
  /** `email` is worked out later, too; undefined where there turns out to be none. */
  readonly post: (email: Effect.Effect<Email | undefined>) => Effect.Effect<void>
}>()("murmuration/services/emails/Emails") {
  static readonly layer = Layer.effect(
    Emails,
    Effect.gen(function*() {
      const mailer = yield* Mailer
      const waiting = yield* Queue.make<Effect.Effect<Email | undefined>, Cause.Done>({
        capacity: lettersWaitingMax,
        strategy: "dropping"
      })

      const deliver = traced("Emails.deliver")(function*(make: Effect.Effect<Email | undefined>) {
        const email = yield* make
        if (email !== undefined) yield* mailer.send(email)
      }, Effect.catchCause((cause) => Effect.logError("an e-mail was not sent", cause)))

      const worker = yield* Queue.take(waiting).pipe(
        Effect.flatMap(deliver),
        Effect.forever,
        Effect.ignore,
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Queue.end(waiting), Effect.ignore(Effect.timeout(Fiber.await(worker), lettersAtEnd)))
      )

      return Emails.of({
        post: traced("Emails.post")(function*(email) {
          if (!(yield* Queue.offer(waiting, email))) yield* Effect.logWarning("too many e-mails wait; one is dropped")
        })
      })
    })
  )
}
