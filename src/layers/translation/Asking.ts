import { Effect, Record, Schema, String } from "effect"
import * as DocumentTypes from "../../services/outbound/DocumentTypes.ts"
import { Outbound } from "../../services/outbound/Outbound.ts"
import { TranslatorFailed } from "../../services/translation/Translator.ts"

/** Maximum bytes of a translation: several times the texts of one post. */
const translationBytesMax = 524_288
/** Maximum characters of a logged reason. */
const whyCharactersMax = 500

/** Maps the service's status to a failure reason. */
const reasonOf = (status: number): TranslatorFailed["reason"] =>
  status === 429 ? "busy" : status === 403 || status === 456 ? "quota" : "broken"

const failed = (reason: TranslatorFailed["reason"]) => (why: unknown) =>
  new TranslatorFailed({ reason, why: `${why}`.slice(0, whyCharactersMax) })

/** Sends JSON requests to a translation service, with authentication headers. */
export const make = Effect.fnUntraced(function*(url: string, headers: Readonly<Record<string, string>>) {
  const outbound = yield* Outbound
  return {
    get: Effect.fnUntraced(function*<S extends Schema.ConstraintDecoder<unknown>>(path: string, schema: S) {
      const { value } = yield* outbound.json({
        url: url + path,
        type: DocumentTypes.plainJson,
        sign: () => Effect.succeed(headers)
      }).pipe(
        Effect.mapError((error) => failed(error._tag === "ErrorResponse" ? reasonOf(error.status) : "broken")(error))
      )
      return yield* Effect.mapError(Schema.decodeUnknownEffect(schema)(value), failed("broken"))
    }),
    post: Effect.fnUntraced(function*<S extends Schema.ConstraintDecoder<unknown>>(
      path: string,
      body: Readonly<Record<string, unknown>>,
      schema: S
    ) {
      const { status, text } = yield* Effect.mapError(
        outbound.post({
          url: url + path,
          headers: { ...headers, "content-type": "application/json", accept: "application/json" },
          body: new TextEncoder().encode(JSON.stringify(Record.mapKeys(body, String.camelToSnake))),
          bytesMax: translationBytesMax
        }),
        failed("broken")
      )
      if (status < 200 || status > 299) return yield* failed(reasonOf(status))(`status ${status}`)
      return yield* Effect.mapError(
        Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text),
        failed("broken")
      )
    })
  }
})
