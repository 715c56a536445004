import { Layer } from "effect"
import * as AdminTrends from "./AdminTrends.ts"
import * as PublicTrends from "./PublicTrends.ts"

export { layer as pages } from "./pages/TrendReview.ts"

export const groups = [AdminTrends.AdminTrendsGroup, PublicTrends.TrendsGroup] as const

/** Handlers of the groups. */
export const layer = Layer.mergeAll(AdminTrends.layer, PublicTrends.layer)
