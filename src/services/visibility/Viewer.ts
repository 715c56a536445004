import type { AccountId } from "../database/Ids.ts"

/**
 * Account of the signed-in user who reads; undefined if not signed in. `statuses/Visibility` decides what it may see.
 */
export type Viewer = AccountId | undefined
