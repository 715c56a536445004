import { Effect, Schema } from "effect"
import * as Protocol from "../actors/account/Protocol.ts"
import { notify } from "../layers/PostgresChannel.ts"
import type { AccountId } from "../services/Ids.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"

/** What belongs to the account's actor: a row for it, and a signal that wakes it. */
export const enqueue = Effect.fnUntraced(function*(accountId: AccountId, command: Protocol.Command) {
  const operatorCommands = yield* OperatorCommands
  const encoded = yield* Schema.encodeEffect(Schema.toCodecJson(Protocol.Command))(command)
  yield* operatorCommands.enqueue(accountId, command._tag, encoded)
  yield* notify({ _tag: "Wake", accountId })
}, Effect.orDie)
