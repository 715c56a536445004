import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"

const decode = Schema.decodeUnknownOption(
  Schema.Struct({ ticket: Schema.String, filename: Schema.optionalKey(Schema.String) })
)

/** Returns the ticket and name of an uploaded file by its field name; undefined if nothing was uploaded. */
export const uploadOf = Effect.fnUntraced(function*(name: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = yield* Effect.orDie(request.json)
  const fields = typeof body === "object" && body !== null ? new Map<string, unknown>(Object.entries(body)) : new Map()
  const found = decode(fields.get(name))
  return found._tag === "Some" ? { ticket: found.value.ticket, fileName: found.value.filename ?? "" } : undefined
})

/** Returns the ticket of an uploaded file by its field name; undefined if nothing was uploaded. */
export const ticketOf = (name: string) => Effect.map(uploadOf(name), (upload) => upload?.ticket)
