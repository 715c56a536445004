import { Effect } from "effect"
import { type Details, type FanoutKind, Fanouts } from "../../services/intents/Fanouts.ts"
import * as Backlog from "./Backlog.ts"
import type { Ownership } from "./Ownership.ts"

/** Leaves intents for the account's fan-out, in the running transaction of a command; made once a node. */
export const make = Effect.gen(function*() {
  const fanouts = yield* Fanouts
  return (own: Ownership, kind: FanoutKind, statusId: bigint | null, details?: Details) =>
    fanouts.add(own.accountId, kind, statusId, details, (intent) => Backlog.wrote(own.backlog, intent))
})
