import { Cause, Clock, Context, Effect, Layer, Metric, Scope } from "effect"
import { Entity, Sharding } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../services/database/Ids.ts"
import { isDatabaseFailure, retryDeadlocks } from "../../services/database/Transactions.ts"
import { withChanges } from "../../services/events/Broadcast.ts"
import { AgendaEntries, type AgendaEntry } from "../../services/intents/AgendaEntries.ts"
import { type OperatorCommand, OperatorCommands } from "../../services/intents/OperatorCommands.ts"
import { type ClientError, Unavailable } from "../../services/runtime/Errors.ts"
import { reduceContext } from "../../services/runtime/Lean.ts"
import { ResponseSeconds } from "../../services/runtime/ResponseSeconds.ts"
import { continued } from "../../services/runtime/TraceParents.ts"
import { AuditLog } from "../../services/staff/AuditLog.ts"
import * as AllVerbs from "./AllVerbs.ts"
import { Account, accountMailboxMax, type Command, PersistedCommand } from "./core/AccountProtocol.ts"
import * as Backlog from "./core/Backlog.ts"
import * as Ownership from "./core/Ownership.ts"
import { familyOf, perform, performAsStatement } from "./core/Verbs.ts"
import * as Fanout from "./fanout/Fanout.ts"
import * as Inbox from "./inbox/Inbox.ts"

const mailboxWaits = Metric.histogram("murmuration_mailbox_wait_seconds", {
  description: "Time that a command waited in the mailbox of its account, on the node of the actor",
  boundaries: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5]
})

/** Builds what all actors of a node share. An actor itself holds only its ownership. */
const make = Effect.gen(function*() {
  const agenda = yield* AgendaEntries
  const retryOnDeadlock = retryDeadlocks(yield* SqlClient.SqlClient)
  const audit = yield* AuditLog
  const operatorCommands = yield* OperatorCommands
  const owners = yield* Ownership.make
  const { asStatement, dueHandlers, verbs } = yield* AllVerbs.make
  const fanout = yield* Fanout.make(owners)

  const responseSeconds = yield* ResponseSeconds

  /** Runs work that leaves intents, then wakes the fan-out. */
  const thenWakeFanout = <A, E>(own: Ownership.Ownership, work: Effect.Effect<A, E>) =>
    retryOnDeadlock(Effect.suspend(() => {
      const { backlog } = own
      const asked = Backlog.beginCommand(backlog)
      return work.pipe(
        Effect.tap(() => {
          Backlog.committed(backlog, asked)
          return fanout.wake(own)
        }),
        Effect.tapCause((cause) =>
          Effect.suspend(() => {
            // The transaction may be committed although its response was lost, and the client may not retry.
            backlog.unread = true
            return isDatabaseFailure(cause) ? fanout.wake(own) : Effect.void
          })
        )
      )
    }))
  const inbox = yield* Inbox.make(owners, verbs, thenWakeFanout)

  /**
   * Runs a command once: `owners.once` opens the transaction, checks the epoch, looks the id up and records the
   * response.
   */
  const run = (own: Ownership.Ownership, id: string, command: Command, until = Number.POSITIVE_INFINITY) => {
    // Checked again under the account's lock, because waiting for the lock takes time.
    const begin = Effect.flatMap(Clock.currentTimeMillis, (now) => now > until ? new Unavailable() : Effect.void)
    const work = Effect.andThen(begin, perform(verbs, command._tag, own, command))
    const simple = performAsStatement(asStatement, command._tag, own, command)
    const attempt = simple && { runAsStatement: simple, begin }
    return thenWakeFanout(own, owners.runOnce(own, id, familyOf(command), work, attempt)).pipe(
      Effect.catchTag("AlreadyDone", audit.refuse),
      Effect.withSpan(`Account.${command._tag}`),
      Effect.catchCause(forClients)
    )
  }

  // Runs in a transaction of the same epoch (`owners.owned`). Completed first, because the handler may enqueue the next
  // entry.
  const runDueEntry = (own: Ownership.Ownership, entry: AgendaEntry) => {
    const { kind, subjectId } = entry
    return retryOnDeadlock(
      owners.owned(own, Effect.andThen(agenda.complete(kind, subjectId), dueHandlers[kind](own, subjectId)))
    ).pipe(
      Effect.catchCause(retried(`${kind} of ${subjectId}`, agenda.retry(entry))),
      Effect.asVoid
    )
  }

  /** Runs an operator's command. Returns whether the commands behind it may run. */
  const runOperatorCommand = (own: Ownership.Ownership, given: OperatorCommand) =>
    PersistedCommand.decode(given.command).pipe(
      Effect.flatMap((decoded) => run(own, `outside:${given.id}`, decoded)),
      Effect.catch((refused) =>
        refused._tag === "Unavailable"
          ? Effect.fail(refused)
          : Effect.logWarning("an operator command was refused", refused.message)
      ),
      Effect.andThen(operatorCommands.complete(given.id)),
      Effect.as(true),
      continued("Entity.runOperatorCommand", given.traceParent),
      Effect.catchCause(retried(`the operator's command ${given.id}`, operatorCommands.retry(given)))
    )

  /** Drains the account's pending work: operator commands, due entries, inbound activities and intents. */
  const drainWork = Effect.fnUntraced(
    function*(own: Ownership.Ownership) {
      for (const command of yield* operatorCommands.claim(own.accountId)) {
        if (!(yield* runOperatorCommand(own, command))) break
      }
      for (const entry of yield* agenda.claim(own.accountId)) yield* runDueEntry(own, entry)
      yield* inbox.processAll(own)
    },
    (chores, own) =>
      chores.pipe(
        Effect.catchCause((cause) => Effect.logWarning("pending work of an account failed; it will be retried", cause)),
        Effect.andThen(Effect.suspend(() => {
          own.backlog.unread = true
          return fanout.wake(own)
        }))
      )
  )

  /** Processes the account's inbound activities, then wakes the fan-out for their intents. */
  const receive = (own: Ownership.Ownership) =>
    inbox.receive(own).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("processing an account's inbox failed; it will be retried", cause)
      ),
      Effect.andThen(fanout.wake(own))
    )

  return { run, drainWork, receive, responseSeconds, wake: fanout.wake }
})

/** Builds the entity layer of one actor from what the node shares. */
const actor = ({ drainWork, receive, responseSeconds, run, wake }: Effect.Success<typeof make>) =>
  Account.toLayer(
    Effect.gen(function*() {
      const { entityId } = yield* Entity.CurrentAddress
      const backlog = Backlog.make(yield* Effect.scope)
      const own = Ownership.begin(AccountId.make(BigInt(entityId)), backlog)
      yield* wake(own)
      return Account.of({
        Do: ({ payload: { command, id, until } }) =>
          Effect.withFiber(({ context }) => {
            const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
            mailboxWaits.updateUnsafe(Math.max(0, (now - until) / 1_000 + responseSeconds), context)
            return now > until ? new Unavailable() : withChanges(run(own, id, command, until))
          }).pipe(
            Effect.map(({ response, changes }) => ({ ...response, changes }))
          ),
        Wake: () => drainWork(own),
        Receive: () => receive(own)
      })
    }),
    { mailboxCapacity: accountMailboxMax, disableFatalDefects: true }
  )

/**
 * The account's actor, the only writer of what the account does. Commands run one at a time, each in one transaction.
 * The transaction checks the actor's epoch, looks the command's id up, writes the change with its intents and records
 * the response. So a command runs once per id, whichever node retries it, and a response means that the change is on
 * disk. Fan-out, timers and operator commands are rows that one supervised fiber processes: at least once, with
 * idempotent effects, in the order of their ids. `AllVerbs.ts` lists the commands, `Ownership.ts` fences owners. The
 * mailbox holds `accountMailboxMax` commands; fan-out takes `sliceRowsMax` followers at a time. Nothing is kept in
 * memory alone.
 */
export const layer = Layer.effectDiscard(
  Effect.flatMap(make, (node) =>
    Effect.updateContext(
      Layer.build(actor(node)),
      reduceContext(Scope.Scope, Sharding.Sharding)
    ))
)

/**
 * Schedules a retry of failed work through `retry`, and logs the failure. Returns true if the work has failed for good.
 */
const retried = (work: string, retry: Effect.Effect<boolean, SqlError>) => (cause: Cause.Cause<unknown>) =>
  Cause.hasInterrupts(cause)
    ? Effect.interrupt
    : Effect.flatMap(retry, (shouldRetry) =>
      Effect.as(
        shouldRetry
          ? Effect.logWarning(`${work} failed; it will be retried`, cause)
          : Effect.logError(`${work} failed on every attempt`, cause),
        !shouldRetry
      ))

/** Passes expected errors to the client as they are; a database failure becomes `Unavailable`. */
const forClients = (cause: Cause.Cause<ClientError | SqlError>): Effect.Effect<never, ClientError> => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason) && !isSqlError(reason.error)) return Effect.fail(reason.error)
  }
  return Effect.andThen(Effect.logError("a command failed", cause), Effect.fail(new Unavailable()))
}
