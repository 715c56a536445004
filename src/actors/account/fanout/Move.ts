import { Effect } from "effect"
import { AccountId } from "../../../services/database/Ids.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Move } from "../../../services/intents/Intent.ts"
import { OperatorCommands } from "../../../services/intents/OperatorCommands.ts"
import { Moves } from "../../../services/social/Moves.ts"
import { type Command, PersistedCommand } from "../core/AccountProtocol.ts"
import type { Owners } from "../core/Ownership.ts"
import type { Slice } from "./Slice.ts"

/**
 * Fan-out of a move: enqueues a command for each local account that follows, blocks or mutes the moved one. Built once
 * per node.
 */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const fanouts = yield* Fanouts
  const moves = yield* Moves
  const operatorCommands = yield* OperatorCommands

  const some = Effect.fnUntraced(function*(from: AccountId, at: Progress, movedTo: bigint) {
    const { cursor, phase } = at
    const slice = yield* phase === 0 ? moves.followers(from, cursor) : moves.blockersAndMuters(from, cursor)
    const command: Command = { _tag: "CarryOver", from, to: AccountId.make(movedTo) }
    yield* operatorCommands.enqueueAll(slice.accountIds, command._tag, yield* PersistedCommand.encode(command))
    if (slice.cursor !== undefined) return yield* fanouts.advance(at, phase, slice.cursor)
    return yield* phase === 0 ? fanouts.advance(at, 1, 0n) : fanouts.complete(at)
  })

  const slice: Slice<Move> = (own, at, { movedTo }) => owned(own, some(own.accountId, at, movedTo))
  return slice
})
