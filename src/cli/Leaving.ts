import { Effect, Schema } from "effect"
import * as Protocol from "../actors/account/Protocol.ts"
import { notify } from "../layers/PostgresChannel.ts"
import type { AccountId } from "../services/Ids.ts"
import { OutsideCommands } from "../services/intents/OutsideCommands.ts"

/** What belongs to the account's actor: a row for it, and a signal that wakes it. */
export const leave = Effect.fnUntraced(function*(accountId: AccountId, command: Protocol.Command) {
  const outside = yield* OutsideCommands
  const encoded = yield* Schema.encodeEffect(Schema.toCodecJson(Protocol.Command))(command)
  yield* outside.leave(accountId, command._tag, encoded)
  yield* notify({ _tag: "Wake", accountId })
}, Effect.orDie)
