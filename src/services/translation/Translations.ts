import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { persisted } from "../database/Persisted.ts"
import { rowsOf } from "../database/Rows.ts"
import { asText } from "../federation/documents/ForeignValues.ts"
import * as SingleFlight from "../federation/SingleFlight.ts"
import { canonical, type LanguagePreferences, preferred } from "../languages/Negotiation.ts"
import { BackendFailed, NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Statuses } from "../statuses/Statuses.ts"
import { isPublicOrUnlisted } from "../statuses/Visibility.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { statusTexts, type TranslatedStatus, translatedStatus } from "./TranslatedTexts.ts"
import { type LanguageMatrix, TranslatedText, Translator, type TranslatorFailed } from "./Translator.ts"

/** Maximum concurrent requests of a process for translations; identical ones are shared. */
const translationsAtOnceMax = 256
/** Maximum age of the cached languages, and pause after a failure of the service, in milliseconds. */
const languagesMillisMax = 7 * 86_400_000
const failureMillis = 30_000
/** Maximum characters of a translated text; the service's response has a bound of bytes. */
const textCharactersMax = 524_288

const Kept = persisted(Schema.Struct({ texts: Schema.Array(TranslatedText) }), 1)
const keptRows = rowsOf(Schema.Struct({ details: Schema.Unknown }))

/** A translated status, and the service that translated it. */
interface Translation extends TranslatedStatus {
  /** Id of the status whose poll has the options, if any. */
  readonly statusId: bigint
  readonly source: string
  readonly target: string
  readonly provider: string
}

/** Translates posts by the configured service; a text's translation is shared by all viewers for a day. */
export class Translations extends Context.Service<Translations, {
  readonly enabled: boolean
  /** Languages of the service; empty without one (S-203). */
  readonly languages: Effect.Effect<LanguageMatrix, BackendFailed>
  /** Translates a public or unlisted post to a language that the service supports for it (S-202). */
  readonly translate: (
    viewer: Viewer,
    statusId: bigint,
    reader: LanguagePreferences
  ) => Effect.Effect<Translation, BackendFailed | NotAllowed | RecordNotFound>
}>()("murmuration/services/translation/Translations") {
  static readonly layer = Layer.effect(
    Translations,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const digest = yield* Digest.Digest
      const statuses = yield* Statuses
      const translator = yield* Translator
      const shared = yield* SingleFlight.make<ReadonlyArray<TranslatedText>, TranslatorFailed>(translationsAtOnceMax)
      const onceLanguages = yield* SingleFlight.make<LanguageMatrix, TranslatorFailed>(1)

      let known: { readonly languages: LanguageMatrix; readonly at: number } | undefined
      let failure: { readonly error: TranslatorFailed; readonly at: number } | undefined
      const matrix = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (translator === undefined) return nothing
        if (known !== undefined && now >= known.at && now - known.at < languagesMillisMax) return known.languages
        if (failure !== undefined && now >= failure.at && now - failure.at < failureMillis) return yield* failure.error
        return yield* onceLanguages("", translator.languages).pipe(
          Effect.tap((languages) =>
            Effect.sync(() => {
              known = { languages, at: now }
            })
          ),
          Effect.tapError((error) =>
            Effect.sync(() => {
              failure = { error, at: now }
            })
          )
        )
      })

      const keyOf = (parts: ReadonlyArray<string>) =>
        Effect.orDie(digest.digest(Digest.sha256, new TextEncoder().encode(JSON.stringify(parts))))

      const translated = Effect.fnUntraced(
        function*(
          backend: Exclude<typeof translator, undefined>,
          texts: ReadonlyArray<string>,
          from: string,
          to: string
        ) {
          const key = yield* keyOf([backend.provider, from, to, ...texts])
          const [row] = yield* Effect.orDie(keptRows(sql`SELECT details FROM translations WHERE key = ${key}`))
          if (row !== undefined) return (yield* Kept.decode(row.details)).texts
          const translated = (yield* backend.translate(texts, from === unknown ? undefined : from, to)).map(storable)
          const at = new Date(yield* Clock.currentTimeMillis)
          const details = yield* Kept.encode({ texts: translated })
          yield* Effect.orDie(sql`INSERT INTO translations (key, details, created_at)
            VALUES (${key}, ${details}::jsonb, ${at}) ON CONFLICT DO NOTHING`)
          return translated
        }
      )

      const translate = traced("Translations.translate")(
        function*(viewer: Viewer, id: bigint, reader: LanguagePreferences) {
          if (translator === undefined) return yield* new RecordNotFound()
          const found = yield* statuses.find(viewer, id)
          const statusId = found.reblogOfId === null ? id : (yield* statuses.find(viewer, found.reblogOfId)).id
          const record = (yield* statuses.load([statusId])).find((status) => status.id === statusId)
          if (record === undefined) return yield* new RecordNotFound()
          if (!isPublicOrUnlisted(record.visibility) || record.localOnly) return yield* new NotAllowed({})
          const languages = yield* matrix
          const from = preferred(tagsOf(languages.keys()), { lang: record.language ?? undefined }) ?? unknown
          const to = preferred(tagsOf(languages.get(from) ?? []), reader)
          if (to === undefined) return yield* new NotAllowed({})
          const texts = statusTexts(record)
          // Services charge for each text, and some reject empty ones.
          const sent = texts.filter((text) => text !== "")
          const translations = sent.length === 0
            ? []
            : yield* shared(
              JSON.stringify([from, to, ...sent]),
              translated(translator, sent, from, to)
            )
          const rest = [...translations]
          const status = translatedStatus(record, texts.map((text) => text === "" ? "" : rest.shift()?.text ?? ""))
          return {
            ...status,
            statusId,
            source: translations[0]?.source ?? from,
            target: to,
            provider: translator.provider
          }
        },
        Effect.catchTag("TranslatorFailed", failForClient)
      )

      return Translations.of({
        enabled: translator !== undefined,
        languages: matrix.pipe(
          Effect.catchTag("TranslatorFailed", failForClient),
          Effect.withSpan("Translations.languages")
        ),
        translate
      })
    })
  )
}

/** Unknown source language. */
const unknown = "und"
const nothing: LanguageMatrix = new Map()

/** Returns a text of the service without characters that JSON in Postgres cannot have, and its language as a tag. */
const storable = ({ source, text }: TranslatedText): TranslatedText => ({
  text: asText(text, textCharactersMax) ?? "",
  source: canonical(source) ?? unknown
})

/** Returns the service's languages that are canonical tags. */
const tagsOf = (tags: Iterable<string>) => [...tags].filter((tag) => tag !== unknown && canonical(tag) === tag)

const refusals = {
  quota: "The server-wide usage quota for the translation service has been exceeded.",
  busy: "There have been too many requests to the translation service recently.",
  broken: "Service Unavailable"
}

const failForClient = (failure: TranslatorFailed) =>
  Effect.andThen(
    Effect.logWarning("a post was not translated", failure.reason, failure.why),
    Effect.fail(new BackendFailed({ text: refusals[failure.reason] }))
  )
