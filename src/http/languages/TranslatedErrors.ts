import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { preferred } from "../../services/languages/Negotiation.ts"
import { languagePreferencesOf } from "./RequestWishes.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Maximum bytes of an error that is translated. */
const errorBytesMax = 65_536

/** Returns the catalog of the requested language; undefined for English and for missing languages. */
const catalogFor = (catalogs: ReadonlyMap<string, Catalog>, request: Request): Catalog | undefined => {
  const wishes = languagePreferencesOf(request)
  if (Object.values(wishes).every((wish) => wish === undefined)) return undefined
  const tag = preferred(catalogs.keys(), wishes)
  return tag === undefined || tag === "en" ? undefined : catalogs.get(tag)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Translates the details of a refused sign-up or profile: a list of codes with descriptions per field. */
const described = (catalog: Catalog, details: unknown): unknown => {
  if (Array.isArray(details)) return details.map((one) => described(catalog, one))
  if (!isRecord(details)) return details
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      name === "description" && typeof value === "string" ? catalog.describe(value) : described(catalog, value)
    ])
  )
}

const translated = (catalog: Catalog, text: string): string | undefined => {
  const body: unknown = JSON.parse(text)
  // OAuth's errors are codes for programs, with descriptions for their developers.
  if (!isRecord(body) || typeof body["error"] !== "string" || "error_description" in body) return undefined
  const error = catalog.translate(body["error"])
  return JSON.stringify({
    ...body,
    error,
    ...("details" in body && { details: described(catalog, body["details"]) })
  })
}

/** Translates the text of an error response into the requested language; returns any other response as it is. */
export const inLanguage = (catalogs: ReadonlyMap<string, Catalog>, request: Request, response: Response): Response => {
  const { body, headers, status } = response
  if (status < 400 || body._tag !== "Uint8Array" || !body.contentType.startsWith("application/json")) return response
  if (body.body.length > errorBytesMax || headers["content-encoding"] !== undefined) return response
  const catalog = catalogFor(catalogs, request)
  const text = catalog === undefined ? undefined : translated(catalog, new TextDecoder().decode(body.body))
  const vary = [headers["vary"], "Accept-Language"].filter(Boolean).join(", ")
  if (catalog === undefined || text === undefined) return HttpServerResponse.setHeader(response, "vary", vary)
  return HttpServerResponse.setHeaders(
    HttpServerResponse.text(text, { status, contentType: body.contentType, cookies: response.cookies }),
    {
      ...headers,
      "content-length": String(new TextEncoder().encode(text).length),
      "content-language": catalog.tag,
      vary
    }
  )
}
