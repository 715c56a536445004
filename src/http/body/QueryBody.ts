import { ByteSize, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { declaredBytes, isObject, json, mediaType, parse } from "./BodyParsing.ts"
import { type Json, Refused } from "./Parameters.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Maximum bytes of a body on a reading request: lists of ids that are too long for a URL. */
const queryBodyBytesMax = 16_384

/** Returns true if a reading request has parameters in a JSON body, as Rails allows. */
export const hasQueryBody = (request: Request): boolean =>
  mediaType(request) === "application/json" && declaredBytes(request) !== 0

/**
 * Returns the query with the body's parameters, which override those of the same name: `limit` and `id[]`, nothing
 * nested.
 */
export const withQueryBody = Effect.fnUntraced(function*(request: Request, search: string) {
  const body = yield* Effect.provideService(
    json(request),
    HttpServerRequest.MaxBodySize,
    ByteSize.bytes(queryBodyBytesMax)
  )
  return yield* parse(() => merged(search, body))
})

const merged = (search: string, body: Json): string => {
  if (!isObject(body)) throw new Refused({ text: "Error occurred while parsing request parameters" })
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(body)) {
    for (const same of [name, `${name}[]`]) query.delete(same)
    const values = Array.isArray(value) ? value : undefined
    for (const one of values ?? [value]) {
      if (typeof one !== "object") query.append(values === undefined ? name : `${name}[]`, String(one))
    }
  }
  return query.toString()
}
