import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Translation } from "../../../src/http/translation/wire/Translation.ts"
import { Environment } from "../../../src/layers/Environment.ts"
import { call, newPerson } from "../../support/Api.ts"
import { blob, form, picture } from "../../support/MediaFiles.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"
import { translationDouble } from "../../support/TranslationDouble.ts"

type Double = Effect.Success<typeof translationDouble>

/** Runs a test on a server whose translation service is the double. */
const translating = <A, E>(
  variables: Record<string, string>,
  test: (double: Double) => Effect.Effect<A, E, TestServer | SqlClient.SqlClient>
) =>
  Effect.scoped(Effect.gen(function*() {
    const double = yield* translationDouble
    const live = TestServer.layer({ ...variables, TRANSLATION_URL: double.url })
    return yield* Effect.provide(test(double), Layer.fresh(live))
  }))

const write = (by: Person, post: Record<string, unknown>) =>
  Effect.map(call("POST", "/api/v1/statuses", by.token, { language: "de", ...post }), ({ body }) => String(body.id))
const translate = (by: Person, id: string, lang?: string) =>
  call("POST", `/api/v1/statuses/${id}/translate`, by.token, lang === undefined ? {} : { lang })
const errorOf = ({ body, status }: { readonly status: number; readonly body: { readonly error: string } }) => [
  status,
  body.error
]

describe("translations", () => {
  it.live("S-202: LibreTranslate translates text, warning, poll and descriptions, sanitised, once per text and language", () =>
    translating(
      { TRANSLATION_KEY: "key1" },
      Effect.fnUntraced(function*({ asked, translations }) {
        const sql = yield* SqlClient.SqlClient
        const [anna, ben] = [yield* newPerson("anna"), yield* newPerson("ben")]
        const id = yield* write(anna, {
          status: "Hallo @ben <b>fett</b> :blob: und #katze",
          spoiler_text: "Vorsicht & Rücksicht",
          poll: { options: ["ja :blob:", "nein <i>"], expires_in: 3600 }
        })
        const { body, status } = yield* translate(ben, id, "en")
        assert.strictEqual(status, 200)
        const found = yield* Schema.decodeUnknownEffect(Translation)(body, { onExcessProperty: "error" })
        assert.deepInclude(found, {
          detected_source_language: "de",
          language: "en",
          provider: "LibreTranslate",
          spoiler_text: "VORSICHT & RÜCKSICHT",
          poll: { id, options: [{ title: "JA :blob:" }, { title: "NEIN <I>" }] },
          media_attachments: []
        })
        assert.include(found.content, "HALLO")
        assert.include(found.content, ":blob: UND")
        assert.include(found.content, "class=\"u-url mention\"")
        assert.notInclude(found.content, "<span translate=\"no\">:blob:")
        assert.deepStrictEqual(asked.filter(({ path }) => path === "/translate").map(({ body }) => body.api_key), [
          "key1"
        ])
        assert.deepStrictEqual(yield* translate(anna, id, "en"), { ...(yield* translate(ben, id, "en")) })
        assert.strictEqual(translations().length, 1)
        assert.strictEqual((yield* translate(ben, id, "fr")).body.language, "fr")
        assert.strictEqual(translations().length, 2)
        // Another node, or this one after a restart, finds the translation in the database.
        assert.strictEqual((yield* sql`SELECT 1 FROM translations`).length, 2)

        const bytes = yield* Effect.promise(() => picture().png().toBuffer())
        const { body: file } = yield* call(
          "POST",
          "/api/v1/media",
          anna.token,
          form({ file: blob(bytes), description: "Ein Bild" })
        )
        const pictured = yield* write(anna, { status: "", media_ids: [file.id] })
        assert.deepInclude((yield* translate(ben, pictured, "en")).body, {
          content: "",
          spoiler_text: "",
          poll: null,
          media_attachments: [{ id: file.id, description: "EIN BILD" }]
        })
        const { body: boost } = yield* call("POST", `/api/v1/statuses/${id}/reblog`, ben.token)
        assert.strictEqual((yield* translate(ben, boost.id, "en")).body.poll.id, id)
        const unknown = yield* write(anna, { status: "irgendwas", language: "xx" })
        assert.strictEqual((yield* translate(ben, unknown, "en")).body.detected_source_language, "de")
        assert.strictEqual(translations().at(-1)?.body.source, "auto")
      })
    ))

  it.live("S-202: only public text is sent to the service, into its languages, by default the reader's own", () =>
    translating(
      {},
      Effect.fnUntraced(function*({ translations }) {
        const sql = yield* SqlClient.SqlClient
        const [cleo, dora] = [yield* newPerson("cleo"), yield* newPerson("dora")]
        const open = yield* write(cleo, { status: "offen" })
        const closed = yield* write(cleo, { status: "geheim", visibility: "private" })
        assert.strictEqual((yield* translate(dora, closed, "en")).status, 404)
        assert.deepStrictEqual(errorOf(yield* translate(cleo, closed, "en")), [403, "This action is not allowed"])
        for (const lang of ["ja", "de", "no language", "x".repeat(9_000)]) {
          assert.strictEqual((yield* translate(dora, open, lang)).status, 403, lang.slice(0, 20))
        }
        assert.strictEqual((yield* translate(dora, "1", "en")).status, 404)
        assert.strictEqual(translations().length, 0)
        yield* sql`UPDATE users SET locale = 'fr' WHERE account_id = ${dora.accountId}`
        assert.strictEqual((yield* translate(dora, open)).body.language, "fr")
        assert.strictEqual((yield* translate(dora, open, "en-US")).body.language, "en")
        assert.strictEqual((yield* call("POST", `/api/v1/statuses/${open}/translate`, undefined)).status, 401)
      })
    ))

  it.live("row 88 F415: whatever the service returns, the translation is text, and is stored", () =>
    translating(
      {},
      Effect.fnUntraced(function*({ replace, translations }) {
        const fred = yield* newPerson("fred")
        const languages = ["de", "<b>", "x".repeat(9_000), "\u0000\ud800"]
        const texts = [
          "a\u0000b",
          "a\ud800b",
          "<script>a</script>b<b>".repeat(2_000),
          `a${"\u0301\u0316".repeat(40_000)}`,
          ""
        ]
        for (const [at, text] of texts.entries()) {
          replace(text, languages[at % languages.length] ?? "")
          const id = yield* write(fred, { status: `Hallo ${at}`, spoiler_text: `Vorsicht ${at}`, language: "xx" })
          const { body, status } = yield* translate(fred, id, "en")
          assert.strictEqual(status, 200, text.slice(0, 9))
          const found = yield* Schema.decodeUnknownEffect(Translation)(body, { onExcessProperty: "error" })
          assert.notMatch(found.content, /\0|<script/)
          assert.isTrue(found.content.isWellFormed())
          assert.include(["de", "und"], found.detected_source_language)
          assert.deepStrictEqual((yield* translate(fred, id, "en")).body, body)
        }
        assert.strictEqual(translations().length, texts.length)
      })
    ))

  it.live("S-203 S-278: languages are listed; a used-up quota, a busy and a failing service are reported", () =>
    translating(
      {},
      Effect.fnUntraced(function*({ fail }) {
        const languages = call("GET", "/api/v1/instance/translation_languages", undefined)
        fail(500)
        assert.deepStrictEqual(errorOf(yield* languages), [503, "Service Unavailable"])
        // The service is not called for a while.
        fail(undefined)
        assert.strictEqual((yield* languages).status, 503)
      })
    ).pipe(Effect.andThen(translating(
      {},
      Effect.fnUntraced(function*({ fail }) {
        const eve = yield* newPerson("eve")
        const { body } = yield* call("GET", "/api/v1/instance/translation_languages", undefined)
        assert.deepStrictEqual(body, { de: ["en", "fr"], en: ["de"], und: ["de", "en", "fr"] })
        const instance = yield* call("GET", "/api/v2/instance", undefined)
        assert.deepStrictEqual(instance.body.configuration.translation, { enabled: true })
        const id = yield* write(eve, { status: "Guten Tag" })
        const texts = [
          [403, "The server-wide usage quota for the translation service has been exceeded."],
          [429, "There have been too many requests to the translation service recently."],
          [500, "Service Unavailable"]
        ] as const
        for (const [code, text] of texts) {
          fail(code)
          assert.deepStrictEqual(errorOf(yield* translate(eve, id, "en")), [503, text])
        }
        fail(undefined)
        assert.strictEqual((yield* translate(eve, id, "en")).body.content, "<p>GUTEN TAG</p>")
      })
    ))))

  it.live("S-202 S-203 S-278: DeepL is called with its key, and its languages are returned as BCP 47 tags", () =>
    translating(
      { TRANSLATION_KIND: "deepl", TRANSLATION_KEY: "key2:fx" },
      Effect.fnUntraced(function*({ asked, fail }) {
        const finn = yield* newPerson("finn")
        const { body } = yield* call("GET", "/api/v1/instance/translation_languages", undefined)
        const all = ["en", "pt", "de", "en-GB", "pt-BR"]
        assert.deepStrictEqual(body, {
          und: all,
          de: all.filter((one) => one !== "de"),
          en: all.filter((one) => one !== "en")
        })
        const id = yield* write(finn, { status: "Moin" })
        assert.deepInclude((yield* translate(finn, id, "pt-BR")).body, {
          content: "<p>MOIN</p>",
          detected_source_language: "de",
          language: "pt-BR",
          provider: "DeepL.com"
        })
        const last = asked.at(-1)
        assert.deepStrictEqual([last?.authorization, last?.body], ["DeepL-Auth-Key key2:fx", {
          text: ["<p>Moin</p>"],
          source_lang: "DE",
          target_lang: "PT-BR",
          tag_handling: "html"
        }])
        fail(456)
        const used = yield* translate(finn, id, "en")
        assert.strictEqual(used.status, 503)
        assert.include(used.body.error, "quota")
      })
    ))

  it.effect("are unavailable without a service; an incomplete configuration stops the start", () =>
    Effect.gen(function*() {
      const settings = (variables: Record<string, string>) =>
        Effect.provide(
          Effect.map(Environment, ({ translation }) => translation),
          testEnvironment(variables)
        )
      assert.isUndefined(yield* settings({}))
      const deepl = { TRANSLATION_KIND: "deepl" }
      assert.strictEqual((yield* settings({ ...deepl, TRANSLATION_KEY: "a:fx" }))?.url, "https://api-free.deepl.com")
      assert.strictEqual((yield* settings({ ...deepl, TRANSLATION_KEY: "a" }))?.url, "https://api.deepl.com")
      for (const half of [deepl, { TRANSLATION_KEY: "a" }, { TRANSLATION_KIND: "libretranslate" }]) {
        assert.include(String(yield* Effect.flip(settings(half))), "TRANSLATION_")
      }
    }))
})
