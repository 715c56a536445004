import { Layer } from "effect"
import * as Subscribing from "./pages/Subscribing.ts"
import * as SubscriptionLinkPages from "./pages/SubscriptionLinkPages.ts"
import * as SubscriptionRequests from "./SubscriptionRequests.ts"

export const groups = [SubscriptionRequests.EmailSubscriptionsGroup] as const

/** Handlers of the groups. */
export const layer = SubscriptionRequests.layer

/** Public pages. */
export const pages = Layer.mergeAll(Subscribing.layer, SubscriptionLinkPages.layer)
