import { Layer } from "effect"
import * as AccountActs from "./AccountActs.ts"
import * as AccountPages from "./AccountPages.ts"
import * as StatusActs from "./StatusActs.ts"
import * as StatusPages from "./StatusPages.ts"

/** Acts on statuses and accounts, and their pages. */
export const layer = Layer.mergeAll(AccountActs.layer, AccountPages.layer, StatusActs.layer, StatusPages.layer)
