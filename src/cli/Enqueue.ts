import { Effect } from "effect"
import * as AccountProtocol from "../actors/account/core/AccountProtocol.ts"
import { notify } from "../layers/PostgresChannel.ts"
import type { AccountId } from "../services/database/Ids.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"

/** Stores a command for the account's actor, and wakes the actor. */
export const enqueue = Effect.fnUntraced(function*(accountId: AccountId, command: AccountProtocol.Command) {
  const operatorCommands = yield* OperatorCommands
  yield* operatorCommands.enqueue(accountId, command._tag, yield* AccountProtocol.PersistedCommand.encode(command))
  yield* notify({ _tag: "Wake", accountId })
}, Effect.orDie)
