import { Schema } from "effect"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { WebSettings } from "../../../services/identity/WebSettings.ts"
import type { StreamEvent } from "../../streaming/StreamEvent.ts"
import { EventPayload } from "./wire/EventPayload.ts"

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(EventPayload))

const encoder = new TextEncoder()
const encoded = (event: string, data: string) => encoder.encode(`event: ${event}\ndata: ${data}\n\n`)

interface Reduced {
  readonly payload: EventPayload
  readonly bytes: Uint8Array
}

/** Reduced events; all browsers that get the same event share one. */
const reduced = new WeakMap<StreamEvent, Reduced | "nothing">()

const reduce = ({ event, payload }: StreamEvent): Reduced | "nothing" => {
  if (event === "delete") return { payload: {}, bytes: encoded(event, JSON.stringify({ id: payload ?? "" })) }
  if (event === "relations") return { payload: {}, bytes: encoded(event, "{}") }
  if (event === "notifications_dismissed") return { payload: {}, bytes: encoded("dismissed", "{}") }
  if (event === "notifications_merged") return { payload: {}, bytes: encoded("unread", "{}") }
  if (event !== "marker" && event !== "update" && event !== "status.update" && event !== "notification") {
    return "nothing"
  }
  const found = decode(payload)
  if (found._tag === "None") return "nothing"
  const { id, notifications, status, type } = found.value
  if (event === "marker") {
    if (notifications === undefined) return "nothing"
    return { payload: {}, bytes: encoded("unread", JSON.stringify({ id: notifications.lastReadId })) }
  }
  const data = event === "notification" ? { id, type, status: status?.id } : { id }
  return { payload: found.value, bytes: encoded(event === "status.update" ? "edit" : event, JSON.stringify(data)) }
}

/**
 * Returns the bytes of an event for a browser; undefined for one that its page does not follow. Home does not announce
 * replies and boosts that its reader switched off.
 */
export const webEvent = (
  event: StreamEvent,
  shown: { readonly home: boolean; readonly viewer: AccountId; readonly web: WebSettings }
): Uint8Array | undefined => {
  const known = reduced.get(event) ?? reduce(event)
  reduced.set(event, known)
  if (known === "nothing") return undefined
  const { bytes, payload: { account, inReplyToAccountId, reblog } } = known
  if (event.event !== "update" || !shown.home) return bytes
  if (!shown.web.homeReblogs && typeof reblog === "object" && reblog !== null) return undefined
  const toOther = typeof inReplyToAccountId === "string" && inReplyToAccountId !== account?.id &&
    inReplyToAccountId !== String(shown.viewer)
  return !shown.web.homeReplies && toOther ? undefined : bytes
}
