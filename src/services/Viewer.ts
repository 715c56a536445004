import type { AccountId } from "./Ids.ts"

/** Who reads: the account of a signed-in user, or nobody. `statuses/Visibility` decides what it may see. */
export type Viewer = AccountId | undefined
