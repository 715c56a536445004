import type { HttpServerRequest } from "effect/http"
import { escape } from "../../services/html/Compose.ts"
import { type Catalog, english } from "../../services/languages/Catalogs.ts"
import { preferred } from "../../services/languages/Negotiation.ts"
import { notificationTitle } from "../../services/NotificationTitles.ts"
import type { NotificationType } from "../../services/NotificationTypes.ts"
import type { Account } from "../wire/Account.ts"
import type { Ready, Values } from "../wire/Keys.ts"
import type { NotificationFallback } from "../wire/Notification.ts"

/** Tells of a notification in words, if it is of a type that the app does not know. */
export type Fallback = (type: NotificationType, account: Ready<Account>) => Values<NotificationFallback> | undefined

/** Where an app knows all types. */
export const noFallback: Fallback = () => undefined

/**
 * The words for an app that names the types that it knows, in the language that it asks for; none for one that names none
 * (entities.md, "NotificationFallback").
 */
export const fallbackFor = (
  catalogs: ReadonlyMap<string, Catalog>,
  supported: ReadonlyArray<string> | undefined,
  { headers, url }: HttpServerRequest.HttpServerRequest
): Fallback => {
  if (supported === undefined || supported.length === 0) return noFallback
  const at = url.indexOf("?")
  const lang = new URLSearchParams(at === -1 ? "" : url.slice(at)).get("lang") ?? undefined
  const words = catalogs.get(preferred(catalogs.keys(), { lang, header: headers["accept-language"] }) ?? "") ?? english
  return (type, account) => {
    if (supported.includes(type)) return undefined
    const { acct }: Account = JSON.parse(account)
    return { title: escape(notificationTitle(words, type, `@${acct}`)), summary: null, description: null }
  }
}
