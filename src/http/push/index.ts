import * as WebPushSubscriptions from "./WebPushSubscriptions.ts"

export const groups = [WebPushSubscriptions.PushSubscriptionsGroup] as const

/** Handlers of the groups. */
export const layer = WebPushSubscriptions.layer
