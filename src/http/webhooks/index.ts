import { Layer } from "effect"
import * as AdminWebhooks from "./AdminWebhooks.ts"
import * as WebhookList from "./pages/WebhookList.ts"
import * as WebhookPage from "./pages/WebhookPage.ts"

export { layer as objects } from "./WebhookObjects.ts"

export const groups = [AdminWebhooks.AdminWebhooksGroup] as const

/** Handlers of the groups. */
export const layer = AdminWebhooks.layer

/** Staff pages. */
export const pages = Layer.mergeAll(WebhookList.layer, WebhookPage.layer)
