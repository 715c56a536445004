import { Layer } from "effect"
import * as NotificationLinks from "./NotificationLinks.ts"
import * as NotificationPages from "./NotificationPages.ts"
import * as RequestPages from "./RequestPages.ts"

/** Notifications and notification requests. */
export const layer = Layer.mergeAll(NotificationLinks.layer, NotificationPages.layer, RequestPages.layer)
