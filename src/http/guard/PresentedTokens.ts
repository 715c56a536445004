import { Effect, Redacted } from "effect"
import { HttpMethod, type HttpServerRequest } from "effect/http"

/*
 * Token that a request presents (RFC 6750, section 2): in the header, then the query, then the body.
 */

type Request = HttpServerRequest.HttpServerRequest

/** Maximum bytes of a body that is searched for a token before its sender is known. */
const bodyBytesMax = 65_536

const tokenNames = ["access_token", "bearer_token"] as const

export const inHead = ({ headers, url }: Request): Redacted.Redacted | undefined => {
  const header = headers["authorization"]
  if (header !== undefined) {
    return /^bearer /i.test(header) ? Redacted.make(header.slice(7).trim()) : undefined
  }
  const query = url.indexOf("?")
  if (query === -1 || !url.includes("_token=", query)) return undefined
  const parameters = new URLSearchParams(url.slice(query))
  const found = parameters.get("access_token") ?? parameters.get("bearer_token")
  return found === null || found === "" ? undefined : Redacted.make(found)
}

/** Returns true if a body may contain the token: the header has none, and the body's declared size is small. */
export const mayBeInBody = ({ headers, method }: Request): boolean => {
  const bytes = Number(headers["content-length"] ?? 0)
  return HttpMethod.hasBody(method) && headers["authorization"] === undefined && bytes > 0 && bytes <= bodyBytesMax
}

/** Reads the token from the body, which the handler later reads, too. */
export const inBody = (request: Request) =>
  Effect.map(request.json, (parameters): Redacted.Redacted | undefined => {
    if (typeof parameters !== "object" || parameters === null) return undefined
    const fields: Partial<Record<string, unknown>> = { ...parameters }
    const found = tokenNames.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "")
    return typeof found === "string" ? Redacted.make(found) : undefined
  })
