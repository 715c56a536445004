import { Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { AccountId, TokenId } from "../../services/database/Ids.ts"
import { onDemandTypes } from "../../services/notifications/NotificationTypes.ts"
import { grants } from "../../services/oauth/Scopes.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { responseMillisMax } from "../deadlines/Deadlines.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { refused } from "./Channels.ts"
import { onDemandEvents } from "./Registry.ts"

/** User of a stream's token. */
export interface Listener {
  readonly accountId: AccountId
  readonly tokenId: TokenId
  readonly address: string
  readonly exactAddress: string
  readonly scopes: ReadonlySet<string>
  readonly hearsNotifications: boolean
  readonly supportedTypes: ReadonlySet<string>
  readonly supportedEvents: ReadonlySet<string>
}

/** Returns the query parameters of a request. */
export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest): URLSearchParams => {
  const at = url.indexOf("?")
  return new URLSearchParams(at === -1 ? "" : url.slice(at))
}

/** Returns the `known` words that a query parameter lists. */
const namedIn = (request: HttpServerRequest.HttpServerRequest, parameter: string, known: ReadonlyArray<string>) => {
  const given = queryOf(request).getAll(parameter)
  return new Set(known.filter((word) => given.includes(word)))
}

/** Returns the token: from the header, the query, or the WebSocket's subprotocol, where browsers can put one. */
const secretOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
  const authorization = request.headers["authorization"]
  const found = authorization === undefined
    ? queryOf(request).get("access_token") || request.headers["sec-websocket-protocol"]?.split(",", 1)[0]
    : authorization.replace(/^bearer(?: |$)/i, "")
  const secret = found?.trim()
  return secret === "" ? undefined : secret
}

/** Authenticates a stream; refuses all but users who may use the API (streaming.md section 6). */
export const make = Effect.gen(function*() {
  const tokens = yield* Tokens
  const millisMax = yield* responseMillisMax
  return traced("Authentication.make")(function*(request: HttpServerRequest.HttpServerRequest) {
    const secret = secretOf(request)
    if (secret === undefined) return yield* refused("noToken")
    const found = yield* Effect.timeoutOrElse(tokens.find(Redacted.make(secret)), {
      duration: millisMax,
      orElse: () => refused("busy")
    })
    const token = Option.getOrUndefined(found)
    if (token === undefined || token.revoked || token.accountId === undefined || token.state !== "active") {
      return yield* refused("badToken")
    }
    const { accountId, scopes, tokenId } = token
    const listener: Listener = {
      accountId,
      tokenId,
      address: addressOf(request),
      exactAddress: Option.getOrElse(request.remoteAddress, () => ""),
      scopes,
      hearsNotifications: grants(scopes, ["read:notifications"]),
      supportedTypes: namedIn(request, "supported_types", onDemandTypes),
      supportedEvents: namedIn(request, "supported_events", onDemandEvents)
    }
    return listener
  })
})
