import { ByteSize, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { declaredBytes, isObject, json, mediaType, parse } from "./BodyParsing.ts"
import { type Json, Refused } from "./Parameters.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The largest body of a reading request: lists of ids, where an address would be too long for them. */
const queryBodyBytesMax = 16_384

/** Whether a reading request brings parameters in a JSON body, as Rails lets it. */
export const hasQueryBody = (request: Request): boolean =>
  mediaType(request) === "application/json" && declaredBytes(request) !== 0

/** The query `search` with the parameters of the body before those of the same name; `limit` and `id[]`, nothing deeper. */
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
