import { Clock, Context, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { BlockedAddresses } from "../../services/moderation/BlockedAddresses.ts"
import * as Reply from "./Reply.ts"

const headers = { "cache-control": "private, no-store" }
const ofApi = Reply.plainError(403, "Forbidden", headers)
/** Outside of the API it is a text for people (auth.md section 5). */
const elsewhere = HttpServerResponse.text("Forbidden", { status: 403, headers })

/**
 * Keeps out whom staff lets nowhere (S-174): of the API, pages, files, streams and inboxes alike. It stands behind what finds
 * out who is behind a proxy, so that no header of a client's own hides an address or makes one up.
 */
export const layer = HttpRouter.middleware(
  Effect.map(
    BlockedAddresses,
    ({ areNone, find }) => (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        if (areNone()) return handler
        const { remoteAddress, url } = Context.get(context, HttpServerRequest.HttpServerRequest)
        const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
        return Option.isSome(remoteAddress) && find(remoteAddress.value, now) === "no_access"
          ? Effect.succeed(url.startsWith("/api/") ? ofApi : elsewhere)
          : handler
      })
  ),
  { global: true }
)
