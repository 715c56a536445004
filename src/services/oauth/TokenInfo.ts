import type { AccountId, AppId, TokenId } from "../Ids.ts"

/** What keeps a user from the API although the token is good (auth.md section 5). */
type UserState = "active" | "unconfirmed" | "pending" | "disabled" | "moved"

/** A token that exists; `accountId` is absent for a client-credentials token, whose `state` is "active". */
export interface TokenInfo {
  readonly tokenId: TokenId
  readonly appId: AppId | undefined
  readonly accountId: AccountId | undefined
  readonly scopes: ReadonlySet<string>
  readonly revoked: boolean
  /** What the user may do by their role, everybody's included; nothing for an app. */
  readonly permissions: bigint
  readonly state: UserState
  /** The user's language tag; undefined for an app, and where the user has set none. */
  readonly locale: string | undefined
  readonly createdAt: Date
}
