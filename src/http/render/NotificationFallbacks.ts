import type { HttpServerRequest } from "effect/http"
import { escape } from "../../services/html/Compose.ts"
import { type Catalog, english } from "../../services/languages/Catalogs.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { preferred } from "../../services/languages/Negotiation.ts"
import type { NotificationType } from "../../services/NotificationTypes.ts"
import type { Account } from "../wire/Account.ts"
import type { Ready, Values } from "../wire/Keys.ts"
import type { NotificationFallback } from "../wire/Notification.ts"

/** What happened, in words; `account` is whoever did it. */
const titleOf = ({ say }: Messages, type: NotificationType, account: string): string => {
  switch (type) {
    case "mention":
      return say("{account} mentioned you", { account })
    case "status":
      return say("{account} posted", { account })
    case "reblog":
      return say("{account} boosted your post", { account })
    case "favourite":
      return say("{account} favourited your post", { account })
    case "follow":
      return say("{account} followed you", { account })
    case "follow_request":
      return say("{account} asked to follow you", { account })
    case "poll":
      return say("A poll of {account} has ended", { account })
    case "update":
      return say("{account} edited a post that you boosted", { account })
    case "admin.report":
      return say("{account} sent a report", { account })
    case "severed_relationships":
      return say("You lost followers, or people whom you followed")
  }
}

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
    return { title: escape(titleOf(words, type, `@${acct}`)), summary: null, description: null }
  }
}
