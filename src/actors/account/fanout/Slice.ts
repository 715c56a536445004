import { Context, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Progress, StaleProgress } from "../../../services/intents/Fanouts.ts"
import type { Intent } from "../../../services/intents/Intent.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import type { Owners, Ownership } from "../core/Ownership.ts"

/** Maximum followers per transaction, so that no post delays another for longer. */
export const sliceRowsMax = 1_000
/** Slice size in use; simulations lower it, so that a few followers make several slices. */
export const SliceRows = Context.Reference("murmuration/actors/account/SliceRows", { defaultValue: () => sliceRowsMax })

/** End of a slice: true if the intent is complete, undefined if an earlier intent has to finish first. */
type SliceEnd = boolean | undefined

/** Processes the next slice of an intent, in a transaction with its cursor, or in a single statement. */
export type Slice<Kind extends Intent> = (
  own: Ownership,
  at: Progress,
  intent: Kind
) => Effect.Effect<SliceEnd, ClientError | StaleProgress | SqlError>

/**
 * Runs a slice in a transaction of the owner. The slice may leave an intent for other servers, so the account's intents
 * are read again after it.
 */
export const intoDelivery = ({ owned }: Pick<Owners, "owned">) => <A, E>(own: Ownership, work: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    own.backlog.unread = true
    return owned(own, work)
  })
