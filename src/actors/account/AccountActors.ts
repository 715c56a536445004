import { Cause, Clock, Context, Effect, Layer, Random } from "effect"
import { Changes } from "../../services/caching/Changes.ts"
import { type ClientError, refusedBySpamRule as refused, Unavailable } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import type { CommandAnswer } from "../../services/intents/Commands.ts"
import { StoodStill } from "../../services/StoodStill.ts"
import { traced } from "../../services/Traced.ts"
import { Account, type Command } from "./Protocol.ts"

/** How long a caller waits for an account's actor, in seconds. Then the client is told to come back. */
export const commandSecondsMax = 5

/** The accounts' actors, as callers see them: wherever they live, a command gives its answer or an error for clients. */
export class AccountActors extends Context.Service<AccountActors, {
  /**
   * Has the account do something. With a `key` (the client's Idempotency-Key) the same command gives the same answer
   * for a day; without one a new id stands for this call. Fails with `Unavailable` after five seconds. The command may
   * be done already, but is not begun any more.
   */
  readonly tell: (accountId: AccountId, command: Command, key?: string) => Effect.Effect<CommandAnswer, ClientError>
  /** Tells the actor that rows wait for it. Never fails; a lost wake-up is made good by the agenda. */
  readonly wake: (accountId: AccountId) => Effect.Effect<void>
  /** The same for what a remote account sent, and nothing else is looked for. */
  readonly receive: (accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/actors/account/AccountActors") {
  static readonly layer = Layer.effect(
    AccountActors,
    Effect.gen(function*() {
      const clientOf = yield* Account.client
      const { learn } = yield* Changes
      const away = (cause: unknown) =>
        Effect.logWarning("an account's actor did not answer", cause).pipe(Effect.andThen(new Unavailable()))

      const tell = traced("AccountActors.tell")(function*(accountId: AccountId, command: Command, key?: string) {
        const id = key === undefined ? `request:${yield* mint}` : `${command._tag}:${key}`
        const until = (yield* Clock.currentTimeMillis) + commandSecondsMax * 1_000
        // Asked after the time is known, which is too late where it stood still before that.
        if ((yield* StoodStill)()) return yield* new Unavailable()
        const { changes = [], ...answer } = yield* clientOf(String(accountId)).Do({ id, command, until }).pipe(
          Effect.catchTags({
            MailboxFull: away,
            AlreadyProcessingMessage: away,
            PersistenceError: away,
            EntityNotAssignedToRunner: away
          }),
          // An actor that has to leave its node in the middle of a command interrupts it; the caller is not interrupted.
          Effect.catchCauseIf(Cause.hasInterruptsOnly, away),
          Effect.timeoutOrElse({ duration: `${commandSecondsMax} seconds`, orElse: () => new Unavailable() })
        )
        learn(changes)
        return answer.kind === "refused" ? yield* refused : answer
      })

      const wake = traced("AccountActors.wake")((accountId: AccountId) =>
        clientOf(String(accountId)).Wake(undefined, { discard: true }).pipe(Effect.ignore)
      )
      const receive = traced("AccountActors.receive")((accountId: AccountId) =>
        clientOf(String(accountId)).Receive(undefined, { discard: true }).pipe(Effect.ignore)
      )
      return AccountActors.of({ tell, wake, receive })
    })
  ).pipe(Layer.provide(Changes.layer))
}

/** 106 bits of chance, enough that two nodes never mint the same id. */
const mint = Effect.map(
  Effect.all([Random.nextInt, Random.nextInt]),
  (parts) => parts.map((part) => Math.abs(part).toString(36)).join("-")
)
