import { Clock, Context, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { BlockedAddresses } from "../../services/moderation/BlockedAddresses.ts"
import * as Reply from "./Reply.ts"

const headers = { "cache-control": "private, no-store" }
const apiResponse = Reply.plainError(403, "Forbidden", headers)
/** Response outside of the API, as plain text for people (auth.md section 5). */
const plainResponse = HttpServerResponse.text("Forbidden", { status: 403, headers })

/**
 * Refuses blocked addresses everywhere (S-174): API, pages, files, streams and inboxes. Runs behind the resolution of
 * proxies, so that no client can hide or forge its address by a header.
 */
export const layer = HttpRouter.middleware(
  Effect.map(
    BlockedAddresses,
    ({ isEmpty, find }) => (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        if (isEmpty()) return handler
        const { remoteAddress, url } = Context.get(context, HttpServerRequest.HttpServerRequest)
        const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
        return Option.isSome(remoteAddress) && find(remoteAddress.value, now) === "no_access"
          ? Effect.succeed(url.startsWith("/api/") ? apiResponse : plainResponse)
          : handler
      })
  ),
  { global: true }
)
