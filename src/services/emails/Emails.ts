import { type Cause, Context, Effect, Fiber, Layer, Queue } from "effect"
import { traced } from "../runtime/Traced.ts"
import { continued, currentTraceParent, type TraceParent } from "../runtime/TraceParents.ts"
import { type Email, Mailer } from "./Mailer.ts"

/** Maximum queued e-mails of a process. Beyond it new ones are dropped, and users can request them again. */
const lettersWaitingMax = 10_000
/** Time that a stopping process spends on queued e-mails. */
const lettersAtEnd = "10 seconds"

/** A queued e-mail and the span that queued it. */
interface QueuedEmail {
  readonly email: Effect.Effect<Email | undefined>
  readonly traceParent: TraceParent
}

/**
 * Queue of e-mails for the `Mailer`. Callers do not wait, so a slow mail server slows no request, and response times do
 * not reveal whether an e-mail is sent. Queued e-mails are lost if the process dies: those that a committed act promises
 * are `PromisedEmails`.
 */
export class Emails extends Context.Service<Emails, {
  /** Queues an e-mail. `email` runs later, in the worker; undefined sends nothing. */
  readonly enqueue: (email: Effect.Effect<Email | undefined>) => Effect.Effect<void>
}>()("murmuration/services/emails/Emails") {
  static readonly layer = Layer.effect(
    Emails,
    Effect.gen(function*() {
      const mailer = yield* Mailer
      const waiting = yield* Queue.make<QueuedEmail, Cause.Done>({
        capacity: lettersWaitingMax,
        strategy: "dropping"
      })

      const deliver = ({ email, traceParent }: QueuedEmail) =>
        email.pipe(
          Effect.flatMap((written) => written === undefined ? Effect.void : mailer.send(written)),
          continued("Emails.deliver", traceParent),
          Effect.catchCause((cause) => Effect.logError("an e-mail was not sent", cause))
        )

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
        enqueue: traced("Emails.enqueue")(function*(email) {
          if (!(yield* Queue.offer(waiting, { email, traceParent: yield* currentTraceParent }))) {
            yield* Effect.logWarning("the e-mail queue is full; an e-mail was dropped")
          }
        })
      })
    })
  )
}
