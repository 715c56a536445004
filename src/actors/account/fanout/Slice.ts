import { Context, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ClientError } from "../../../services/Errors.ts"
import type { DoneElsewhere, Progress } from "../../../services/intents/Fanouts.ts"
import type { Intent } from "../../../services/intents/Intent.ts"
import type { Owners, Ownership } from "../Ownership.ts"

/** Followers that one transaction serves, so that no post delays another by more than that. */
export const sliceRowsMax = 1_000
/** The same, as the fan-out takes it; simulations have slices of a few, so that few followers are enough for several. */
export const SliceRows = Context.Reference("murmuration/actors/account/SliceRows", { defaultValue: () => sliceRowsMax })

/** How a slice ends: true where nothing is left of its intent, undefined where something before it is not told yet. */
type SliceEnd = boolean | undefined

/** Does the next slice of an intent of a kind; in a transaction with how far it has come, or in one statement that is one. */
export type Slice<Kind extends Intent> = (
  own: Ownership,
  at: Progress,
  intent: Kind
) => Effect.Effect<SliceEnd, ClientError | DoneElsewhere | SqlError>

/**
 * Runs a slice in a transaction of the owner. It may leave an intent for other servers, so that the account's intents are
 * read again after it.
 */
export const intoDelivery = ({ owned }: Pick<Owners, "owned">) => <A, E>(own: Ownership, work: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    own.backlog.unread = true
    return owned(own, work)
  })
