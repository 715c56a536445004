import { Effect, Option, Result } from "effect"
import { Base64 } from "effect/encoding"
import { HttpServerRequest } from "effect/http"
import type { Apps } from "../../services/oauth/Apps.ts"

interface Named {
  readonly clientId?: string | null
  readonly clientSecret?: string | null
}

/** Authenticates the client of a request: by HTTP Basic, or by parameters (RFC 6749, 2.3.1). */
export const authenticated = (apps: Apps["Service"], parameters: Named) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const { clientId, clientSecret } = basic(headers["authorization"]) ?? parameters
    return clientId && clientSecret ? apps.authenticate(clientId, clientSecret) : Effect.succeed(Option.none())
  })

const basic = (header: string | undefined): Named | undefined => {
  if (header === undefined || !/^basic /i.test(header)) return undefined
  const text = Result.getOrElse(Base64.decodeString(header.slice("basic ".length).trim()), () => "")
  const colon = text.indexOf(":")
  return colon === -1 ? {} : { clientId: unescape(text.slice(0, colon)), clientSecret: unescape(text.slice(colon + 1)) }
}

/**
 * Decodes a half of the credentials. Both should be form-encoded; most clients skip that, as our secrets do not need
 * it.
 */
const unescape = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return text
  }
}
