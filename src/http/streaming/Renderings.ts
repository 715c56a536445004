import { Context, type Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"

/** A status for one listener. */
interface RenderedStatus {
  readonly text: string
  /** Contexts in which the listener's filters hide the status (S-261). */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/** Renders what streams send, as serialised JSON. Each rendering checks visibility again (security row 58). */
export class Renderings extends Context.Service<Renderings, {
  /** Renders a status for many viewers; a viewer who may not see it or hides its author is absent. */
  readonly status: (
    statusId: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, RenderedStatus>>
  /** Undefined if it is deleted, no longer visible, or hidden by the account's filters. */
  readonly notification: (accountId: AccountId, notificationId: bigint) => Effect.Effect<string | undefined>
  /** Renders a notification; undefined if it is deleted, no longer visible, or hidden by the account's filters. */
  readonly announcement: (id: bigint) => Effect.Effect<string | undefined>
  readonly announcementReaction: (id: bigint, name: string) => Effect.Effect<string | undefined>
  /** Undefined if it was cleared. */
  readonly encryptedMessage: (id: bigint) => Effect.Effect<string | undefined>
  /** Renders all reading positions of the account. */
  readonly markers: (accountId: AccountId) => Effect.Effect<string>
  readonly conversation: (accountId: AccountId, conversationId: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/http/streaming/Renderings") {}
