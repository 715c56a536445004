import { Cause, Clock, Context, Effect, Layer, Metric, Random } from "effect"
import { Changes } from "../../../services/caching/Changes.ts"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { CommandResponse } from "../../../services/intents/Commands.ts"
import { type ClientError, refusedBySpamRule as refused, Unavailable } from "../../../services/runtime/Errors.ts"
import { ResponseSeconds } from "../../../services/runtime/ResponseSeconds.ts"
import { ProcessStalled } from "../../../services/runtime/StoodStill.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Account, type Command } from "./AccountProtocol.ts"

const mailboxes = Metric.gauge("murmuration_mailbox_commands", {
  description: "Commands of this node's requests that wait in the mailbox of an account or run"
})

/** Counts a command while the effect runs. */
const counted = () => {
  let count = 0
  return <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ context }) => {
      mailboxes.updateUnsafe(++count, context)
      return Effect.onExit(command, () => Effect.sync(() => mailboxes.updateUnsafe(--count, context)))
    })
}

/**
 * Client of the accounts' actors, on whichever node they run. A command returns its response, or fails with an error
 * for clients.
 */
export class AccountActors extends Context.Service<AccountActors, {
  /**
   * Runs a command on the account's actor. Commands with the same `key` (the client's Idempotency-Key) get the same
   * response for a day; without a key each call has its own id. Fails with `Unavailable` after five seconds: the
   * command may have run, but does not start later.
   */
  readonly tell: (accountId: AccountId, command: Command, key?: string) => Effect.Effect<CommandResponse, ClientError>
  /** Wakes the actor to process new rows. Never fails: the agenda makes up for a lost wake-up. */
  readonly wake: (accountId: AccountId) => Effect.Effect<void>
  /** Like `wake`, but for inbound activities of a remote account only. */
  readonly receive: (accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/actors/account/core/AccountActors") {
  static readonly layer = Layer.effect(
    AccountActors,
    Effect.gen(function*() {
      const clientOf = yield* Account.client
      const { addRemote } = yield* Changes
      const seconds = yield* ResponseSeconds
      const inMailbox = counted()
      const unavailable = (cause: unknown) =>
        Effect.logWarning("an account's actor did not respond", cause).pipe(Effect.andThen(new Unavailable()))

      const tell = traced("AccountActors.tell")(function*(accountId: AccountId, command: Command, key?: string) {
        const id = key === undefined ? `request:${yield* requestId}` : `${command._tag}:${key}`
        const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
        // Checked after the clock is read: `until` would be too late if the process stalled before that.
        if ((yield* ProcessStalled)()) return yield* new Unavailable()
        const { changes = [], ...response } = yield* clientOf(String(accountId)).Do({ id, command, until }).pipe(
          Effect.catchTags({
            MailboxFull: unavailable,
            AlreadyProcessingMessage: unavailable,
            PersistenceError: unavailable,
            EntityNotAssignedToRunner: unavailable
          }),
          // An actor that must leave its node during a command interrupts the command; the caller is not interrupted.
          Effect.catchCauseIf(Cause.hasInterruptsOnly, unavailable),
          Effect.timeoutOrElse({ duration: `${seconds} seconds`, orElse: () => new Unavailable() }),
          inMailbox
        )
        addRemote(changes)
        return response.kind === "refused" ? yield* refused : response
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

/** Random id of 106 bits, so that two nodes never create the same one. */
const requestId = Effect.map(
  Effect.all([Random.nextInt, Random.nextInt]),
  (parts) => parts.map((part) => Math.abs(part).toString(36)).join("-")
)
