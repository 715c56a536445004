import { Effect } from "effect"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Intent } from "../../../services/intents/Intent.ts"
import * as Backlog from "./Backlog.ts"
import type { Ownership } from "./Ownership.ts"

/** Builds the writer of intents for the account's fan-out, in the current transaction; once per node. */
export const make = Effect.gen(function*() {
  const fanouts = yield* Fanouts
  return (own: Ownership, intent: Intent) =>
    fanouts.enqueue(own.accountId, intent, (fanout) => Backlog.addWritten(own.backlog, fanout))
})
