import { Layer } from "effect"
import * as AccountActs from "./AccountActs.ts"
import * as Profiles from "./Profiles.ts"

/** Profiles, and acts on accounts. */
export const layer = Layer.mergeAll(AccountActs.layer, Profiles.layer)
