import { Context, type Effect } from "effect"
import type { AccountId } from "../../services/Ids.ts"

/** What streams show, as ready JSON. Everything asks again who may see it (security row 58). */
export class Renderings extends Context.Service<Renderings, {
  /** A status for everybody about to get it; who may not see it, or hides its author, is absent. */
  readonly status: (
    statusId: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, string>>
  /** Undefined where it is gone or not to be seen any more. */
  readonly notification: (accountId: AccountId, notificationId: bigint) => Effect.Effect<string | undefined>
  readonly conversation: (accountId: AccountId, conversationId: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/http/streaming/Renderings") {}
