import { Layer } from "effect"
import * as NotificationPages from "./NotificationPages.ts"
import * as RequestPages from "./RequestPages.ts"

/** Notifications and notification requests. */
export const layer = Layer.merge(NotificationPages.layer, RequestPages.layer)
