import { Layer } from "effect"
import * as AdminModerationLists from "./AdminModerationLists.ts"
import * as ModerationListPages from "./pages/ModerationListPages.ts"
import * as SuggestionList from "./pages/SuggestionList.ts"

export const groups = [AdminModerationLists.AdminModerationListsGroup] as const

/** Handlers of the groups. */
export const layer = AdminModerationLists.layer

/** Staff pages. */
export const pages = Layer.mergeAll(ModerationListPages.layer, SuggestionList.layer)
