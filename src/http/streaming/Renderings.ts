import { Context, type Effect } from "effect"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { AccountId } from "../../services/Ids.ts"

/** A status for one listener. */
interface RenderedStatus {
  readonly text: string
  /** Where the listener's filters leave it out (S-261). */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/** What streams show, as ready JSON. Everything asks again who may see it (security row 58). */
export class Renderings extends Context.Service<Renderings, {
  /** A status for everybody about to get it; who may not see it, or hides its author, is absent. */
  readonly status: (
    statusId: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, RenderedStatus>>
  /** Undefined where it is gone, not to be seen any more, or left out by the account's filters. */
  readonly notification: (accountId: AccountId, notificationId: bigint) => Effect.Effect<string | undefined>
  /** The same for everybody; undefined where it is not published any more. */
  readonly announcement: (id: bigint) => Effect.Effect<string | undefined>
  readonly announcementReaction: (id: bigint, name: string) => Effect.Effect<string | undefined>
  /** Undefined where it was cleared. */
  readonly encryptedMessage: (id: bigint) => Effect.Effect<string | undefined>
  /** All reading positions of the account. */
  readonly markers: (accountId: AccountId) => Effect.Effect<string>
  readonly conversation: (accountId: AccountId, conversationId: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/http/streaming/Renderings") {}
