import { Layer } from "effect"
import * as AccountActs from "./AccountActs.ts"
import * as FollowPages from "./FollowPages.ts"

/** Acts on accounts, and pages of followers and followed accounts. */
export const layer = Layer.mergeAll(AccountActs.layer, FollowPages.layer)
