import { Effect } from "effect"
import * as Protocol from "../actors/account/core/Protocol.ts"
import { notify } from "../layers/PostgresChannel.ts"
import type { AccountId } from "../services/database/Ids.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"

/** Stores a command for the account's actor, and wakes the actor. */
export const enqueue = Effect.fnUntraced(function*(accountId: AccountId, command: Protocol.Command) {
  const operatorCommands = yield* OperatorCommands
  yield* operatorCommands.enqueue(accountId, command._tag, yield* Protocol.PersistedCommand.encode(command))
  yield* notify({ _tag: "Wake", accountId })
}, Effect.orDie)
