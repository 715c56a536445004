import { Cause, Effect, Match, Schema } from "effect"
import { Entity } from "effect/cluster"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { type ClientError, Unavailable } from "../../services/Errors.ts"
import { AccountId } from "../../services/Ids.ts"
import { AgendaEntries, type Due } from "../../services/intents/Agenda.ts"
import { type OutsideCommand, OutsideCommands } from "../../services/intents/OutsideCommands.ts"
import * as Fanout from "./Fanout.ts"
import * as Interactions from "./Interactions.ts"
import * as Ownership from "./Ownership.ts"
import * as Profile from "./Profile.ts"
import { Account, accountMailboxMax, Command } from "./Protocol.ts"
import * as Publishing from "./Publishing.ts"
import * as Relations from "./Relations.ts"
import * as Scheduling from "./Scheduling.ts"
import { familyOf } from "./Verbs.ts"

const decodeCommand = Schema.decodeUnknownEffect(Schema.toCodecJson(Command))

/**
 * The account's actor. It is the only writer of what the account does: commands run one at a time, each in one
 * transaction that checks the actor's epoch, looks the command's id up, writes the change with the intents that follow
 * from it and records the answer. So a command is done once for each id, whichever node tries it again; an answer
 * means that the change is on disk. Fan-out, timers and commands from outside are rows, worked off by one supervised
 * fiber: at least once, with effects that are sets, in the order of their ids. The mailbox holds
 * `accountMailboxMax` commands; fan-out takes `sliceRowsMax` followers at a time. Nothing is kept in memory alone.
 */
export const layer = Account.toLayer(
  Effect.gen(function*() {
    const { entityId } = yield* Entity.CurrentAddress
    const accountId = AccountId.make(BigInt(entityId))
    const agenda = yield* AgendaEntries
    const outside = yield* OutsideCommands
    const ownership = yield* Ownership.make(accountId)
    const publishing = yield* Publishing.make(ownership)
    const scheduling = yield* Scheduling.make(ownership, publishing)
    const relations = yield* Relations.make(ownership)
    const interactions = yield* Interactions.make(ownership)
    const profile = yield* Profile.make(ownership)
    const fanout = yield* Fanout.make(ownership)

    const work = Match.type<Command>().pipe(Match.tagsExhaustive({
      ...publishing.verbs,
      ...scheduling.verbs,
      ...relations.verbs,
      ...interactions.verbs,
      ...profile.verbs
    }))
    // The span of a command; verbs have none of their own, because `Effect.fn` keeps a stack trace for each of every actor.
    const run = (id: string, command: Command) =>
      ownership.once(id, familyOf[command._tag], work(command)).pipe(
        Effect.withSpan(`Account.${command._tag}`),
        Effect.tap(fanout.wake),
        Effect.catchCause(forClients)
      )

    const onDue = ({ kind, subjectId }: Due) =>
      ownership.owned(Effect.andThen(
        kind === "mute_end" ? relations.muteEnd(subjectId) : scheduling.due(subjectId),
        agenda.strike(kind, subjectId)
      ))

    const fromOutside = Effect.fnUntraced(function*({ command, id }: OutsideCommand) {
      yield* decodeCommand(command).pipe(
        Effect.flatMap((decoded) => run(`outside:${id}`, decoded)),
        Effect.catch((refused) =>
          refused._tag === "Unavailable"
            ? Effect.fail(refused)
            : Effect.logWarning("refused a command", refused.message)
        )
      )
      yield* outside.strike(id)
    })

    /** What waits for this account beside its fan-out. */
    const chores = Effect.gen(function*() {
      for (const command of yield* outside.waiting(accountId)) yield* fromOutside(command)
      for (const due of yield* agenda.dueOf(accountId)) yield* onDue(due)
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("an account's chores must wait", cause))
    )

    return Account.of({
      Do: ({ payload }) => run(payload.id, payload.command),
      Wake: () => Effect.andThen(chores, fanout.wake)
    })
  }),
  { mailboxCapacity: accountMailboxMax, disableFatalDefects: true }
)

/** Expected errors go to the client as they are; a database that does not answer is a reason to come back. */
const forClients = (cause: Cause.Cause<ClientError | SqlError>): Effect.Effect<never, ClientError> => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason) && !isSqlError(reason.error)) return Effect.fail(reason.error)
  }
  return Effect.andThen(Effect.logError("a command failed", cause), Effect.fail(new Unavailable()))
}
