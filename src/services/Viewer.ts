import type { AccountId } from "./Ids.ts"

/** Who reads: the account of a signed-in user, or nobody. What it may see is `statuses/Visibility`'s decision. */
export type Viewer = AccountId | undefined
