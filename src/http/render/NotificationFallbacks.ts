import type { HttpServerRequest } from "effect/http"
import { escape } from "../../services/html/Compose.ts"
import { type Catalog, english } from "../../services/languages/Catalogs.ts"
import { preferred } from "../../services/languages/Negotiation.ts"
import { notificationTitle } from "../../services/notifications/NotificationTitles.ts"
import type { NotificationType } from "../../services/notifications/NotificationTypes.ts"
import { languagePreferencesOf } from "../languages/RequestWishes.ts"
import type { Account } from "../wire/Account.ts"
import type { JsonOf, Values } from "../wire/Keys.ts"
import type { NotificationFallback } from "../wire/Notification.ts"

/** Describes a notification in a text if the app does not know its type. */
export type Fallback = (type: NotificationType, account: JsonOf<Account>) => Values<NotificationFallback> | undefined

/** Fallback for an app that knows all types. */
export const noFallback: Fallback = () => undefined

/**
 * Returns texts for the notification types that an app does not know, in the requested language; none for an app that
 * does not list the types it knows (entities.md, "NotificationFallback").
 */
export const fallbackFor = (
  catalogs: ReadonlyMap<string, Catalog>,
  supported: ReadonlyArray<string> | undefined,
  request: HttpServerRequest.HttpServerRequest,
  locale: string | undefined
): Fallback => {
  if (supported === undefined || supported.length === 0) return noFallback
  const words = catalogs.get(preferred(catalogs.keys(), { ...languagePreferencesOf(request), locale }) ?? "") ?? english
  return (type, account) => {
    if (supported.includes(type)) return undefined
    const { acct }: Account = JSON.parse(account)
    return { title: escape(notificationTitle(words, type, `@${acct}`)), summary: null, description: null }
  }
}
