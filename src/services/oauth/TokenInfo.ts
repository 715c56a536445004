import type { AccountId, AppId, TokenId } from "../database/Ids.ts"
import type { UserState } from "../visibility/UserStates.ts"

/** A known token; `accountId` is undefined for a client-credentials token, whose `state` is "active". */
export interface TokenInfo {
  readonly tokenId: TokenId
  readonly appId: AppId | undefined
  readonly accountId: AccountId | undefined
  readonly scopes: ReadonlySet<string>
  readonly revoked: boolean
  /** Permissions of the user's role, including those of the default role; none for an app. */
  readonly permissions: bigint
  readonly state: UserState
  /** Language tag of the user; undefined for an app, and if the user has set none. */
  readonly locale: string | undefined
  readonly createdAt: Date
}
