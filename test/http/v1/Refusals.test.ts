import { NodeServices } from "@effect/platform-node"
import { assert, describe, it as plainly, layer } from "@effect/vitest"
import { Effect, FileSystem, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { folder } from "../../../src/layers/CatalogFiles.ts"
import { CatalogFile, catalogOf } from "../../../src/services/languages/Catalogs.ts"
import { canonical, preferred } from "../../../src/services/languages/Negotiation.ts"
import { call } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { sourcesIn } from "../../support/source.ts"

const files = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const at = fileURLToPath(folder)
  const names = yield* fs.readDirectory(at)
  const read = (name: string) =>
    Effect.map(
      Effect.flatMap(fs.readFileString(at + name), Schema.decodeUnknownEffect(Schema.fromJsonString(CatalogFile))),
      (file) => [name.replace(".json", ""), file] as const
    )
  return new Map(yield* Effect.forEach(names, read))
}).pipe(Effect.provide(NodeServices.layer))

/** Example values for text templates where 12 does not fit. */
const examples = new Map([["{}x{} {} are not supported", "10x9000 images are not supported"]])

/** Returns the texts of refusals in the sources, with `{}` for values. */
const refusalsInSources = (): ReadonlyArray<string> => {
  const found = new Set<string>()
  const refusalCalls =
    /\b(?:validationFailed|plainError|malformed|refusePin|refuse|problem)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)|\b(?:NotAllowed|Unprocessable|BadRequest|RecordNotFound|Refused|MediaRefused)\(\{\s*text:([^}]*(?:\$\{[^}]*\}[^}]*)*)/g
  for (const { path, text } of sourcesIn("src")) {
    if (
      /^src\/(?:cli|http\/(?:oauth|html|pages|\w+\/pages|activitypub|streaming|files)|services\/(?:federation|instance)|layers\/(?!media))/
        .test(path)
    ) continue
    if (/SignIns|Emojis|Site|Inbox|Importing/.test(path)) continue
    const places = path === "src/services/runtime/Errors.ts"
      ? [["", text.replace(/\/\*[\s\S]*?\*\//g, "")]]
      : text.matchAll(refusalCalls)
    for (const [, first, second] of places) {
      for (
        const [, double, template] of (first ?? second ?? "").matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)
      ) {
        const one = (double ?? template ?? "").replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "{}")
        if (/^(?:[A-Z]|\{\}|param)[^\n]* [a-z]/.test(one)) found.add(one)
      }
    }
  }
  return [...found]
}

describe("catalogs of texts", () => {
  plainly.effect("F35: each language has every text, its values and its attributes", () =>
    Effect.gen(function*() {
      const all = yield* files
      assert.includeMembers([...all.keys()], ["en", "de", "fr", "es", "ja", "pt", "zh-CN"])
      const english = all.get("en")!
      for (const [tag, file] of all) {
        assert.deepStrictEqual(Object.keys(file.texts), Object.keys(english.texts), tag)
        assert.deepStrictEqual(Object.keys(file.attributes), Object.keys(english.attributes), tag)
        for (const [text, translated] of Object.entries(file.texts)) {
          const holders = (one: string) => [...one.matchAll(/\{\w\}/g)].map(([holder]) => holder).toSorted()
          assert.deepStrictEqual(holders(translated), holders(text), `${tag}: ${text}`)
          assert.notStrictEqual(translated.trim(), "", `${tag}: ${text}`)
        }
      }
      for (const [text, translated] of Object.entries(english.texts)) assert.strictEqual(translated, text)
    }))

  plainly.effect("F35: every text by which something is refused has its key", () =>
    Effect.gen(function*() {
      const german = (yield* files).get("de")!
      const { translate } = catalogOf("de", german)
      const texts = refusalsInSources()
      assert.isAbove(texts.length, 60)
      const example = (text: string) =>
        examples.get(text) ?? text.replace(/^\{\} (?=is|are|content|must)/, "Avatar ").replaceAll("{}", "12")
      const same = texts.filter((text) => translate(example(text)) === example(text))
      assert.deepStrictEqual(same, [])
    }))

  plainly.effect(
    "F35: problems are translated one by one, whatever a person wrote in between",
    () =>
      Effect.gen(function*() {
        const { describe: say, translate } = catalogOf("de", (yield* files).get("de")!)
        assert.strictEqual(
          translate(
            "Validation failed: Username must contain only letters, numbers and underscores, Password is too short (minimum is 8 characters), $& is odd"
          ),
          "Das stimmt noch nicht: Benutzername darf nur Buchstaben, Ziffern und Unterstriche enthalten, Passwort ist zu kurz (mindestens 8 Zeichen), $& is odd"
        )
        assert.strictEqual(
          translate("Validation failed: Thumbnail 10x9000 images are not supported"),
          "Das stimmt noch nicht: Vorschaubild: Bilder von 10x9000 werden nicht unterstützt"
        )
        assert.strictEqual(
          translate("Media 1, 2 not found or already attached to another post"),
          "Die Datei 1, 2 gibt es nicht, oder sie gehört schon zu einem anderen Beitrag"
        )
        assert.strictEqual(say("can't be blank"), "darf nicht leer sein")
        const hostile = `Validation failed: ${"a, ".repeat(1_300)}`
        assert.strictEqual(typeof translate(hostile), "string")
      })
  )

  plainly("F35: locales as systems write them, and the languages of a header by their weights", () => {
    const written = [
      "en_US",
      "de_DE.UTF-8",
      "pt-br",
      "sr_RS@latin",
      "C",
      "POSIX",
      "tlh",
      "x",
      "",
      "de-",
      "a".repeat(99),
      "zh_Hant_TW"
    ]
    assert.deepStrictEqual(written.map(canonical), [
      "en-US",
      "de-DE",
      "pt-BR",
      "sr-RS",
      undefined,
      undefined,
      "tlh",
      undefined,
      undefined,
      undefined,
      undefined,
      "zh-Hant-TW"
    ])
    const there = ["de", "en", "fr", "pt", "zh-CN"]
    const asked = (header: string | undefined, lang?: string) => preferred(there, { header, lang })
    assert.strictEqual(asked("fr;q=0.5, de-AT;q=0.9, ja"), "de")
    assert.strictEqual(asked("de", "fr-CA"), "fr")
    assert.strictEqual(asked("de", "xx"), "de")
    assert.strictEqual(asked("zh-TW, pt-BR;q=0.1"), "pt")
    assert.strictEqual(asked("zh"), "zh-CN")
    assert.strictEqual(asked("zh-Hans-SG"), "zh-CN")
    assert.strictEqual(asked("de;q=0, en-GB;q=0.1"), "en")
    for (const none of ["*", "", undefined, ";;;,,,q=", "xx-yy", "zh-Hant"]) assert.isUndefined(asked(none))
  })
})

layer(TestServer.layer(), { excludeTestServices: true })("refusals", (it) => {
  it.effect("F35: errors are in the requested language, and in English by default", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const ada = yield* createPerson("polyglot")
      const told = Effect.fnUntraced(
        function*(path: string, language?: string, init: RequestInit & { json?: unknown } = {}) {
          const headers = language === undefined ? {} : { "accept-language": language }
          const response = yield* fetch(path, { token: ada.token, headers, ...init })
          const body = JSON.parse(yield* Effect.promise(() => response.text()))
          return { response, error: body.error, details: body.details }
        }
      )
      const missing = "/api/v1/statuses/1"
      assert.strictEqual((yield* told(missing)).error, "Record not found")
      assert.strictEqual((yield* told(missing, "*")).error, "Record not found")
      assert.strictEqual((yield* told(missing, "en-GB, de;q=0.9")).error, "Record not found")
      const german = yield* told(missing, "de-CH, en;q=0.1")
      assert.strictEqual(german.error, "Eintrag nicht gefunden")
      assert.strictEqual(german.response.status, 404)
      assert.strictEqual(german.response.headers.get("content-language"), "de")
      assert.match(german.response.headers.get("vary") ?? "", /Authorization.*Accept-Language/)
      assert.isString(german.response.headers.get("x-request-id"))
      assert.strictEqual((yield* told(`${missing}?lang=ja`, "de")).error, "項目が見つかりません")
      assert.strictEqual((yield* told("/api/v1/no_such_thing", "fr")).error, "Introuvable")
      const blank = yield* told("/api/v1/statuses", "es", { method: "POST", json: { status: "" } })
      assert.strictEqual(blank.error, "Falta por corregir: Texto no puede estar en blanco")
      const profile = { display_name: "x".repeat(500) }
      const long = yield* told("/api/v1/accounts/update_credentials", "zh-CN", { method: "PATCH", json: profile })
      assert.match(long.error, /^请检查以下内容：显示名称过长（最多 \d+ 个字符）$/)
      assert.match(long.details.display_name[0].description, /^过长（最多 \d+ 个字符）$/)
    }))

  it.effect("F35: invalid fields are named; a scalar instead of a hash is dropped", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("precise")
      const wrong = [
        ["POST", "/api/v1/statuses", { status: "x", visibility: "nobody" }, "visibility"],
        ["POST", "/api/v1/statuses", { status: "x", media_ids: [{}] }, "media_ids"],
        ["POST", "/api/v1/statuses", { status: "x", poll: { options: [{}], expires_in: 300 } }, "poll"],
        ["PATCH", "/api/v1/accounts/update_credentials", { display_name: {} }, "display_name"],
        ["POST", `/api/v1/accounts/${ada.accountId}/mute`, { duration: {} }, "duration"]
      ] as const
      for (const [method, path, json, parameter] of wrong) {
        const { body, status } = yield* call(method, path, ada.token, json)
        assert.strictEqual(status, 422, path)
        assert.match(body.error, new RegExp(`^Validation failed: ${parameter}\\S* is invalid$`))
      }
      for (const value of ["undefined", 7, true, null]) {
        const json = { fields_attributes: value, source: value, note: "kept" }
        const { body, status } = yield* call("PATCH", "/api/v1/accounts/update_credentials", ada.token, json)
        assert.strictEqual(status, 200, JSON.stringify(body))
        assert.strictEqual(body.source.note, "kept")
      }
      const listed = yield* call("PATCH", "/api/v1/accounts/update_credentials", ada.token, {
        fields_attributes: ["undefined", { name: "a", value: "b" }]
      })
      assert.deepStrictEqual(listed.body.source.fields.map(({ name }: { readonly name: string }) => name), ["a"])
      const { body: posted } = yield* call("POST", "/api/v1/statuses", ada.token, { status: "one" })
      const edit = { status: "two", media_attributes: "undefined", poll: "undefined" }
      assert.strictEqual((yield* call("PUT", `/api/v1/statuses/${posted.id}`, ada.token, edit)).status, 200)
      const markers = yield* call("POST", "/api/v1/markers", ada.token, {
        home: "undefined",
        notifications: { last_read_id: "5" }
      })
      assert.deepStrictEqual(Object.keys(markers.body), ["notifications"])
    }))
})
