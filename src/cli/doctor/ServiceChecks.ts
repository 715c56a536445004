import type { Path } from "effect"
import { Effect, FileSystem, Layer, Option, Redacted, Schema, Stream } from "effect"
import type { Digest } from "effect/crypto"
import { HttpClientRequest } from "effect/http"
import * as ConfiguredTranslator from "../../layers/ConfiguredTranslator.ts"
import { Environment, serverConfig } from "../../layers/Environment.ts"
import { OperatorError } from "../../layers/OperatorError.ts"
import { Redis } from "../../layers/Redis.ts"
import * as Storages from "../../layers/storage/Storages.ts"
import { Storage } from "../../services/media/Storage.ts"
import { Translator } from "../../services/translation/Translator.ts"
import { type Examination, Fail, Ok, Skip } from "./Examination.ts"
import { respond } from "./HttpRequests.ts"

/** Oldest Redis whose commands the server uses. */
const redisMin = [6, 2] as const

const unused = Skip({ words: "not used" })

const decodeVerdict = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      success: Schema.Boolean,
      errorCodes: Schema.optionalKey(Schema.Array(Schema.String))
    }).pipe(Schema.encodeKeys({ errorCodes: "error-codes" }))
  )
)

const isOldRedis = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < redisMin[0] || (major === redisMin[0] && minor < redisMin[1])
}

/** Checks of the services that the server uses beside Postgres. */
export const serviceChecks: ReadonlyArray<
  Examination<Environment | FileSystem.FileSystem | Path.Path | Digest.Digest>
> = [
  {
    subject: "Files",
    examine: Effect.gen(function*() {
      const { dataDir, s3 } = yield* Environment
      const fs = yield* FileSystem.FileSystem
      if (s3 === undefined && !(yield* fs.exists(dataDir))) return Skip({ words: "there is no data folder yet" })
      // Lists the first file only. A bucket explains in its error why it refuses access.
      yield* Effect.flatMap(Storage, ({ list }) => Stream.runHead(list)).pipe(Effect.provide(Storages.layer))
      return Ok({ words: s3 === undefined ? `${dataDir}/media` : `bucket ${s3.bucket} at ${s3.endpoint}` })
    })
  },
  {
    subject: "Redis",
    examine: Effect.gen(function*() {
      const { redisUrl } = yield* Environment
      if (redisUrl === undefined) return unused
      const info = yield* Effect.flatMap(Redis, (redis) => redis.use((client) => client.info("server"))).pipe(
        Effect.provide(Redis.layer(redisUrl))
      )
      const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? "unknown"
      return isOldRedis(version)
        ? Fail({ words: `${version} is older than ${redisMin.join(".")}` })
        : Ok({ words: version })
    })
  },
  {
    subject: "Tracing",
    examine: Effect.gen(function*() {
      const { otlpUrl } = yield* Environment
      if (otlpUrl === undefined) return unused
      const url = `${otlpUrl.replace(/\/$/, "")}/v1/traces`
      const { status } = yield* respond(
        HttpClientRequest.post(url).pipe(HttpClientRequest.bodyJsonUnsafe({ resourceSpans: [] }))
      )
      return status >= 200 && status < 300
        ? Ok({ words: `${url} accepts spans` })
        : Fail({ words: `${url} responded with ${status} (OTLP_URL)` })
    })
  },
  {
    subject: "Translation",
    examine: Effect.gen(function*() {
      const { translation } = yield* Environment
      if (translation === undefined) return unused
      return yield* Effect.gen(function*() {
        const translator = yield* Translator
        if (translator === undefined) return unused
        const languages = yield* Effect.mapError(
          translator.languages,
          ({ reason, why }) => new OperatorError({ message: `${translation.url}: ${reason} (${why})` })
        )
        return Ok({ words: `${translator.provider}, ${languages.size} source languages` })
      }).pipe(Effect.provide(ConfiguredTranslator.layer.pipe(Layer.provide(serverConfig))))
    })
  },
  {
    subject: "Captcha",
    examine: Effect.gen(function*() {
      const { server: { captcha } } = yield* Environment
      if (captcha.kind !== "hcaptcha") {
        return Skip({ words: captcha.kind === "off" ? "not used" : "made by this server" })
      }
      const { status, text } = yield* respond(
        HttpClientRequest.post(captcha.verifyUrl).pipe(
          HttpClientRequest.bodyUrlParams({
            secret: Redacted.value(captcha.secretKey),
            sitekey: captcha.siteKey,
            response: "test"
          })
        )
      )
      const verdict = decodeVerdict(text)
      if (Option.isNone(verdict)) {
        return Fail({ words: `${captcha.verifyUrl} responded with ${status}, not as hCaptcha` })
      }
      const refusal = verdict.value.errorCodes?.find((code) => /secret|sitekey/.test(code))
      return refusal === undefined
        ? Ok({ words: `${captcha.verifyUrl} accepts the keys` })
        : Fail({ words: `${captcha.verifyUrl} refuses the keys: ${refusal}` })
    })
  }
]
